from __future__ import annotations

import re

from leasehold.database import Database
from leasehold.sql import read_folder


async def test_a_name_is_always_the_same_and_can_be_said(database: Database) -> None:
    first, again, other = [
        (await database.call_value("name_worker", worker_id)) for worker_id in ("pod-1", "pod-1", "pod-2")
    ]
    assert first == again != other
    for name in (first, other):
        assert re.fullmatch("[a-z]+-[a-z]+", str(name))


async def test_few_of_many_share_a_name(database: Database) -> None:
    rows = await database.fetch("select leasehold.name_worker('pod-' || n) from generate_series(1, 200) n")
    assert len({row[0] for row in rows}) >= 195


def test_no_word_is_there_twice() -> None:
    text = read_folder("functions")["name_worker"]
    words = " ".join(re.findall(r"'([a-z ]{20,})'", text)).split()
    assert len(words) > 250
    assert len(set(words)) == len(words)
