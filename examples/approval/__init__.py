"""A human in the loop: an expense waits until a person decides.

    python -m examples.approval

    submit ──> settle ──> pay_out       one chain for each expense; small ones skip settle
                 │ waits for
                 └─ approval            a chain of its own; no worker runs it, somebody completes it
    remind, reject_late                 two jobs beside it: remind people, and reject at the deadline

`handlers.py` is what to copy; `people.py` shows the four ways to decide.
"""

from .handlers import app

__all__ = ["app"]
