"""How each fault is done. `catalogue.py` has them by name; an injection returns the processes that it is for."""
