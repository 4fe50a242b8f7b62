"""The health and the metrics of a process of actors. `run.py` comes in. Start in `probes.py`."""
