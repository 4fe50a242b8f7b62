"""How new jobs become the JSON that `enqueue_jobs` takes, and the enqueue middlewares and events around it.

The client and the worker import it. Start in `encoding.py`.
"""
