"""Background jobs for Python on nothing but Postgres."""
