"""Running handlers: slots, the call of a handler in its flavour, middlewares, and what a job's methods need.

The worker comes in. Start in `slot.py`.
"""
