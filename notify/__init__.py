"""LISTEN and NOTIFY: one channel, typed notices and their subscribers. Notices make things faster; nothing needs them.

Actors, client and gateway import this package. It knows the database and no jobs. Start in `channel.py`.
"""
