"""Writing outcomes: many at a time, guarded, acknowledged after the commit. The worker comes in. Start in `settler.py`."""
