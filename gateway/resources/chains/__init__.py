"""`/api/chains…`."""
