"""What happens, read once for all who listen, and turned into server-sent events. Start in `hub.py`."""
