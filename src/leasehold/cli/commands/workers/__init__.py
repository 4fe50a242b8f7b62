"""`leasehold workers …`."""
