"""The running system: the actors of worker, scheduler and reaper processes.

A process is put together in `run.py`: one nursery, one listener, any set of actors, each restarted by
`supervise.py`. The command line, `leasehold.worker`, `django` and `testing` import this package. Start in `run.py`, then follow a
job through `leases/` and `running/`.
"""
