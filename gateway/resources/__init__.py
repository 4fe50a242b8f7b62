"""The resources of the API, a folder for each: its routes (`table.py`), handlers and bodies. Start in `table.py`."""
