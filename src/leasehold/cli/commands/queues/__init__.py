"""`leasehold queues …` and `leasehold wake`."""
