"""What all actors share: restarts after a lost database, who the worker is, its mode, how long to wait.

Every package of the actors imports this one. Start in `supervisor.py`.
"""
