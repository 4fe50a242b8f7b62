"""`/api/jobs/capacity…`, and what a queue or a key has in hand."""
