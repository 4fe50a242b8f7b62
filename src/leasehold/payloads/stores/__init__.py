"""Where the content of payloads lies: a folder, or a bucket of any object store.

Only `payloads/` comes in. Start with `blob_store.py`, the interface; `opening.py` makes the one that a setting names.
"""
