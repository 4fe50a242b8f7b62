"""What a process tells about itself: log lines, events, metrics, probes. It knows no jobs and no database.

Every package may import this one. Start in `observers.py` for events and in `logs.py` for log lines.
"""
