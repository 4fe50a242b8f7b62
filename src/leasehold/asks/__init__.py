"""What clients ask of the database: which SQL function, with which values, and what its answer means. Pure.

Both clients come in here, the awaited one and `leasehold.sync`; neither decides any of this itself. `ask.py` says what an ask
is; `enqueueing.py` has the one that everybody uses.
"""
