"""`leasehold status`, `events` and `audit`: the state of everything."""
