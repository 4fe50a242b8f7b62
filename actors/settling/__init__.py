"""Writing outcomes: many at a time, guarded, acknowledged after the commit.

The worker imports this package. Start in `settler.py`.
"""
