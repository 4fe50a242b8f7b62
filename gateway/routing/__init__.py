"""What a route is, the OpenAPI document made of it, and the services that handlers use. Start in `routes.py`."""
