"""A crawl of many shops, from the discovery of a store to the diff of two crawls.

    python -m examples.shop_crawl [SHOPS] [PRODUCTS]

`handlers.py` is what to copy: what each kind of job does. `refreshing.py` brings a payload into the tables of `schema.sql`.
`server.py` is the shop's API, which knows the truth; `catalogue.py` says what it sells. `__main__.py` runs three rounds, kills
workers and counts.
"""

from .handlers import app

__all__ = ["app"]
