"""Connections of the caller's, of any library: how a call of ours is written for it, run on it, and told when it fails.

Enter: a connection that a caller gave as `connection=`. Leave: rows, or errors of `leasehold.errors`. Nothing here imports a
driver: a connection is known by the module of its class, and its library is loaded by then. `statements.py` is pure;
`finding.py` says which adapter takes which connection. The clients come in here, of both kinds. Start with `finding.py`.
"""
