"""Waiting for chains to end: one connection that listens and one statement serve all waits of a client.

`ends.py` is what `client.wait` and `client.chains.wait` call; start there. `chain_watch.py` does the work
in asyncio, in both flavours. Only the client comes in here.
"""
