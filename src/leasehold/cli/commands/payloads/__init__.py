"""`leasehold payloads …`: list payloads, look at one, get its content, compare two. Start with `payloads.py`."""
