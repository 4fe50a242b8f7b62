"""A census of the installed Python standard library: one job per source file, then one report.

From the checkout:

    leasehold up --app examples.stdlib_census:app --workers 3
    leasehold enqueue census.discover '{"run": "first", "folder": "/tmp/census"}'

It counts every `*.py` below the standard library's folder, without installed packages (`site-packages`,
`dist-packages`) and without Python's own test suites (`test`, `tests`, `idle_test`).

    census.discover ── lists the files ──┬─> census.measure   one for each file: parse, count, return the measures
                                         └─> census.report    runs again until all files are measured; then ranks them

The same folder is `leasehold.demo.stdlib_census`, so that `leasehold demo` works from an installed wheel. So the
imports in here are relative.
"""

from .handlers import app

__all__ = ["app"]
