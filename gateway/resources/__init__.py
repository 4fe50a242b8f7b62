"""What the API is about, a room for each noun: its routes (`table.py`), handlers and bodies. Start in `table.py`."""
