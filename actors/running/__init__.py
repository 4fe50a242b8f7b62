"""Running handlers: slots, the call of a handler in its flavour, middlewares, and what a job's methods need.

The worker imports this package. Start in `slot.py`.
"""
