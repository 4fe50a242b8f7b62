"""Other queues in a test's database: their tables, made by the libraries' own migrations."""
