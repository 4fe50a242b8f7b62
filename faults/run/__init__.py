"""A run from beginning to end: fleet, load, faults, heal, drain, history, verdict. `machine.py` puts it together."""
