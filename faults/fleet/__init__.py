"""Real processes on a Postgres of their own, each behind a proxy of its own."""
