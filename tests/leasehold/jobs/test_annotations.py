"""Annotations as text, as values, and, from Python 3.14 on, as what is looked up when it is asked for."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import pytest

from leasehold.errors import InvalidArgs
from leasehold.jobs.arguments import args_type, takes_job
from leasehold.jobs.job import Job

AS_TEXT = "from __future__ import annotations\n"
ARE_LAZY = sys.version_info >= (3, 14)
HANDLER = "def handler(job: Job, place: Place, n: int = 3) -> Place: ...\n"
PLACE = "class Place(msgspec.Struct):\n    name: str\n"
UNKNOWN = "def handler(job: Job, place: Nowhere) -> None: ...\n"


def handler_of(source: str) -> Any:
    """The function that this module defines."""
    names: dict[str, Any] = {"Job": Job, "msgspec": msgspec, "__name__": "a_module"}
    exec(compile(source, "a_module.py", "exec", dont_inherit=True), names)
    return names["handler"]


TEXTS = [AS_TEXT + PLACE + HANDLER, AS_TEXT + HANDLER + PLACE, PLACE + HANDLER]


@pytest.mark.parametrize("source", [*TEXTS, *([HANDLER + PLACE] if ARE_LAZY else [])])
def test_args_have_the_types_of_the_handler_however_its_annotations_are_kept(source: str) -> None:
    handler = handler_of(source)
    assert takes_job(handler) is True
    args = msgspec.json.decode(b'{"place": {"name": "here"}}', type=args_type(handler))
    assert (getattr(args, "place").name, getattr(args, "n")) == ("here", 3)  # noqa: B009  made a moment ago


@pytest.mark.parametrize("source", [AS_TEXT + UNKNOWN, *([UNKNOWN] if ARE_LAZY else [])])
def test_an_annotation_that_means_nothing_is_told(source: str) -> None:
    handler = handler_of(source)
    for look in (takes_job, args_type):
        with pytest.raises(InvalidArgs, match=r"annotation cannot be resolved: name 'Nowhere' is not defined"):
            look(handler)
