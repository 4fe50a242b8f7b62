"""From trio to asyncio and back: an asyncio loop that lives inside a trio program.

There are two ways, behind one interface (`border.py`). `over_trio_asyncio` has trio-asyncio do it, and is the only module that
knows that library, which cannot be imported on Python 3.14. `stepped` lets trio step asyncio's own loop. `chosen.py` says which
one this process takes. Start in `border.py`; docs/decisions/0070 has the reasons and the figures.
"""
