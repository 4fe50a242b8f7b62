"""`leasehold schedules …`."""
