"""`leasehold doctor`: what it looks at, a module for each part. Each check reads and judges one thing. Start in `checkup.py`."""
