"""`leasehold chains …`."""
