"""The HTTP service: a file for each noun, with handlers and their routes, from which decoding and documents come.

Only the command line comes in. Start in `nouns/jobs.py`, then `routing/routes.py`: what a route is.
"""
