"""`leasehold status`, `events` and `audit`: how everything fares."""
