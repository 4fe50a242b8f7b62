"""Following what happens: changes read from the database a little at a time. Start in `feed.py`."""
