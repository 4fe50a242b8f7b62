"""LISTEN and NOTIFY: one channel, typed notices, and who hears them. Hints that make things faster, never needed.

Actors, client and gateway come in; it knows the database and no jobs. Start in `channel.py`.
"""
