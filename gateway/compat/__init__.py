"""Requests and answers as clients of task workers know them: a job is a task, a queue a role, a key a dispensary or store.

Everything here turns their words into ours, calls the handler of our own route, and turns the answer back. The routes have a
document of their own, `/openapi-compat.json`. Start in `aliases.py`, the table; nobody but `route_table.py` comes in.
"""
