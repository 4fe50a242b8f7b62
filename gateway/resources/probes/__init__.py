"""`/livez`, `/readyz`, `/startupz` and `/metrics`."""
