"""Moving in: mappings of other queues' tables, and what moving them tells. Pure but for reading the mapping's file.

The client and the command line come in. Start in `sources.py`; `mappings/` has the ready ones; docs/moving-in.md has the form.
"""
