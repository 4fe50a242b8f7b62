"""`leasehold capacity`."""
