"""`leasehold run`, `gateway`, `demo` and `reap`."""
