"""`/api/jobs…`: making jobs, looking at them, changing them, one or many."""
