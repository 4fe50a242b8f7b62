"""docs/diagnosis.md: there is a job 42."""

TABLES = "select leasehold.enqueue_jobs(jsonb_agg(jsonb_build_object('kind', 'echo'))) from generate_series(1, 42)"
