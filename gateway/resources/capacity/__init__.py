"""`/api/jobs/capacity…`, and the jobs of a queue or a key."""
