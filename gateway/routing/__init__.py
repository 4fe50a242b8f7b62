"""What a route is, what handlers are given, and the documents made of the table. Start in `routes.py`."""
