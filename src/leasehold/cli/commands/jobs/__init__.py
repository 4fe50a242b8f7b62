"""`leasehold jobs …` and `leasehold enqueue`."""
