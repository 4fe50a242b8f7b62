"""`/api/payloads…`: what is too large for a row.

The route table comes in. Start with `table.py`; `content.py` streams the content itself.
"""
