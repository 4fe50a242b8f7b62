"""Running handlers and settling what came of them: slots, what a job's methods need, and the settler.

The worker imports this package. Start in `slot.py`, then `settler.py`.
"""
