"""Schedules: what they are made of, and when they fire. Pure: time is passed in, nothing is written here.

The app, the client and the scheduler (`actors/upkeep/scheduler.py`) come in. Start in `definition.py`, then `timetable.py`;
`wall_clock.py` reads cron expressions.
"""
