"""`client.jobs`: what is done with jobs beyond `client.get`, `cancel` and `retry`.

`Jobs` in `jobs.py` is made of lists of jobs (`listing.py`), what is known of one job (`reading.py`), changes of one job
(`changing.py`), changes of many (`bulk.py`), and putting jobs in order (`upkeep.py`). Only `Client` makes it.
"""
