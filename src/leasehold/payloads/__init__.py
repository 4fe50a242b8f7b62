"""Payloads: what is too large for a row. The content lies in a store, a row of the database says where.

The client, workers, the janitor and the gateway come in. Start with `archive.py`, which saves and reads; `stores.py` has
the one small interface of the places where content lies, and `claim_checks.py` what jobs put there by themselves.
"""
