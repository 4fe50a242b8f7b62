"""The checks of `leasehold doctor`, a module for each subject: connection, schema, work, health. Each check reads and judges one
thing. Start in `checkup.py`.
"""
