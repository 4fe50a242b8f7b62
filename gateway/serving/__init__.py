"""The process: a port bound, requests counted, errors turned into problems, everything closed in order. Start in `serve.py`."""
