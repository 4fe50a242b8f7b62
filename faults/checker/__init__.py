"""Judges a history, and knows nothing else: no database, no process, no clock. `judge.py` has all rules."""
