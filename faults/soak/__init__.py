"""The soak of django-ox, repeated on `leasehold.django.Backend`: its mix of tasks, its rates, its workers and its SIGKILLs.

`scenes.py` says what is run and how much; `running.py` runs it with real processes on a Postgres of its own; the tasks write what
they do into a ledger, and `judging.py` holds that against the jobs. `python -m faults django-soak` is `command.py`. Start with
`running.py`. The original is `benchmarks/soak.py` of oxpull/django-ox.
"""
