"""What runs tasks: `app.py` is the app that `manage.py leasehold` gives to our command line, `running.py` one attempt of a task,
`address.py` where the database is. Only processes of `manage.py leasehold` load it. Start with `app.py`."""
