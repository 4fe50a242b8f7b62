from __future__ import annotations

import msgspec
import pytest

from leasehold.job import NewJob


def test_what_is_left_to_the_database_is_not_sent() -> None:
    assert msgspec.json.encode(NewJob(kind="echo")) == b'{"kind":"echo","args":{}}'
    assert msgspec.json.encode(NewJob(kind="echo", args=msgspec.Raw(b'{"a":1}'), delay=2.5)) == (
        b'{"kind":"echo","args":{"a":1},"delay":2.5}'
    )


def test_a_field_that_does_not_exist_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="prioritty"):
        msgspec.json.decode('{"kind": "echo", "prioritty": 1}', type=NewJob)


def test_two_new_jobs_share_no_args() -> None:
    assert NewJob(kind="a").args is not NewJob(kind="a").args
