"""`/api/jobs/migration/…`: other queues that move in."""
