"""Changes, read once for all streams and turned into server-sent events. Start in `hub.py`."""
