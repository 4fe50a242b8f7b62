"""The HTTP service: one route table, from which handlers, decoding and documents come.

Only the command line comes in. Start in `resources/table.py`, the table of all routes, then `routing/routes.py`: what a route is.
"""
