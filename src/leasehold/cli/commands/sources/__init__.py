"""`leasehold import …`."""
