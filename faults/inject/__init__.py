"""How each fault is done. `catalogue.py` has them by name; an injection returns the process ids that it is for."""
