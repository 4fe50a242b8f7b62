"""`/api/egress…`."""
