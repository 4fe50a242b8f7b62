"""What stands between us and Postgres, and whether notifications get through it. Start in `pooler.py`."""
