"""`leasehold top`: a live screen. Start in `top.py`."""
