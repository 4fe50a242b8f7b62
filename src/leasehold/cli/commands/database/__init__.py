"""`leasehold migrate`, `grants` and `config`."""
