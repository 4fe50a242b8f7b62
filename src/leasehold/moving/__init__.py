"""Moving in: mappings of other queues' tables, what moving them tells, and the tables of task workers beside ours.

The client and the command line come in. Start in `sources.py`, which is pure but for reading the mapping's file; `mappings/` has
the ready ones, and docs/moving-in.md their form. `compat.py` runs the SQL of `sql/compat/`.
"""
