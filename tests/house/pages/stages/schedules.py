"""docs/schedules.md: shops that are crawled."""

from __future__ import annotations

from datetime import date, timedelta

from leasehold import App, open_client

app = App()
SHARED = (date, timedelta, open_client)
TABLES = """
create table shops (id int, closed boolean default false);
insert into shops values (7);
select leasehold.create_schedule(jsonb_build_object('name', name, 'kind', 'crawl_shop', 'every', 'PT4H', 'args', args))
  from jsonb_build_object('shop', 7) args, unnest(array['crawl', 'crawl-all']) name;
"""


@app.kind()
async def crawl_shop(shop: int) -> None:
    pass


@app.kind()
async def clean_up(days: int) -> None:
    pass
