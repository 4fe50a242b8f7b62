"""`/api/tokens…` and `/api/audit`."""
