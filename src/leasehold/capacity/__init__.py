"""How long jobs will wait and how many workers that takes: records and pure arithmetic.

The client and the gateway read it. Start in `forecast.py`.
"""
