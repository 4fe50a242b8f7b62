"""A kind of job: its handler, the types of its args and output, its options and middlewares. Start in `kind.py`."""
