"""Waiting for chains to end: one connection that listens and one statement serve all waits of a client.

`waits.py` is `client.wait`, `ends.py` is what it and `client.chains.wait` call; start there. `chain_watch.py` does the work
in asyncio, in both flavours. Only the client comes in here.
"""
