"""What all actors share: restarts after a lost database, who the worker is, its mode, how long to wait.

Every room of the actors comes in. Start in `supervisor.py`.
"""
