"""From new jobs to what `enqueue_jobs` takes, with the middlewares and events around it.

The client and the settler come in. Start in `encoding.py`.
"""
