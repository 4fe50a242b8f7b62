"""`leasehold tokens …`."""
