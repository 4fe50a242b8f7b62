"""docs/crawling.md: the stores of the crawl."""

from __future__ import annotations

from datetime import timedelta

from leasehold import App

app = App()
SHARED = (timedelta,)
TABLES = """
create schema crawl;
create table crawl.stores (id int, state_code text);
insert into crawl.stores values (7, 'AZ');
select leasehold.create_schedule('{"name": "payload_fetch_all", "kind": "payload_fetch", "every": 14400, "query":
  "select id::text as key, id as store, jsonb_build_object(''state_code'', state_code) as metadata from crawl.stores"}');
"""


@app.kind(queue="crawl")
async def payload_fetch(store: int) -> None:
    pass
