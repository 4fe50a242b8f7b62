"""`leasehold up`: all processes of the service, kept running. Start in `up.py`."""
