"""The process: a port bound, requests admitted, decoded and answered, everything closed in order. Start in `serve.py`."""
