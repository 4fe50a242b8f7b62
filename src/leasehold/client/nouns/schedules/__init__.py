"""`client.schedules`: make schedules, look at them, change them and fire them.

`Schedules` in `schedules.py` is made of reading (`reading.py`), defining (`defining.py`), firing (`firing.py`) and previews
of ticks and rows (`previews.py`). Only `Client` makes it; what a schedule is lies in `leasehold.schedules`.
"""
