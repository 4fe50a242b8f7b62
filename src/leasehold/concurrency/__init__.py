"""Plain tools for code that runs under trio, asyncio or in threads: events, and which of them runs just now.

They know nothing of jobs or of the database. Start in `flavours.py` for code that runs under both, in `asyncio_border.py` for
trio programs that use asyncio.
"""
