"""`/api/tokens…` and `/api/audit`, and `/api/session`, which makes sessions of tokens."""
