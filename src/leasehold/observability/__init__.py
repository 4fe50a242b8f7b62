"""What a process tells of itself: log lines, subscribers to events, metrics, probes. It knows no jobs and no database.

Everybody may come in. Start in `observers.py` for events and in `logs.py` for log lines.
"""
