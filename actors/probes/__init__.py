"""The health and the metrics of a process of actors. `run.py` imports this package. Start in `probes.py`."""
