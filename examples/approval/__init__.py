"""A human in the loop: an expense waits for a decision that comes from outside, in whatever way.

    python -m examples.approval

    submit ──> settle ──> pay_out       one chain for each expense; small ones skip settle
                 │ waits for
                 └─ approval            a chain of its own; no worker runs it, somebody completes it
    remind, reject_late                 beside it: see to it that somebody does

`handlers.py` is what to copy; `people.py` shows the four ways to decide.
"""

from .handlers import app

__all__ = ["app"]
