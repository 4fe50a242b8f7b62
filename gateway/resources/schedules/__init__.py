"""`/api/schedules…`, and the generators of jobs."""
