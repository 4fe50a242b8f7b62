"""`/api/findings…` and `/api/doctor`: what an audit finds, its repair, and the checks of the server."""
