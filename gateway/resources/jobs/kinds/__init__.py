"""`/api/kinds…`: kinds of jobs, as the catalogue has them."""
