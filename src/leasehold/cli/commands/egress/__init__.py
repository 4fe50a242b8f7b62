"""`leasehold egress …`."""
