"""An option of a job is declared in `JobOptions`. A few places beside it need a line by hand: this file names them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import msgspec
import pytest

from leasehold.cli.commands.enqueue import enqueue
from leasehold.cli.commands.jobs_change import jobs_edit
from leasehold.errors import LeaseholdError
from leasehold.gateway.nouns.jobs import EditBody
from leasehold.gateway.nouns.jobs_enqueue import JobBody, new_job
from leasehold.jobs.encoding import check_fields, encode_document
from leasehold.jobs.new_job import JOB_OPTIONS, JobOptions, NewJob
from leasehold.schedules.definition import ScheduleDefinition, ScheduleOptions
from leasehold.sql import read_folder, read_text
from tests.support.job_options import SAMPLES

ROOT = Path(__file__).parents[3]
FUNCTIONS = read_folder("functions")
TEXTS = {field.name for field in msgspec.structs.fields(NewJob) if field.type == str | None}
COLUMNS = set(re.findall(r"^column jobs\.(\w+):", read_text("schema.txt"), re.MULTILINE))
STORED = [name for name in JOB_OPTIONS if name in COLUMNS]
ELSEWHERE: dict[str, str] = dict.fromkeys(("idempotency_key", "unique", "blockers"), "it has a table of its own")


def found(pattern: str, text: str) -> str:
    """What the group of the pattern stands for in the text, which has it."""
    match = re.search(pattern, text, re.DOTALL)
    assert match is not None, f"nothing looks like {pattern} any more: correct this test"
    return match[1]


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def header(function: str) -> set[str]:
    return words(FUNCTIONS[function].partition("create or replace")[0])


def inserted(function: str, table: str) -> set[str]:
    return words(found(rf"insert into leasehold\.{table} \((.*?)\)", FUNCTIONS[function]))


def recordset(number: int) -> set[str]:
    """The columns of a `jsonb_to_recordset` in `add_jobs`."""
    columns = re.findall(r"jsonb_to_recordset\(.*?\) as \((.*?)\)\)", FUNCTIONS["add_jobs"], re.DOTALL)
    return {column.split()[0] for column in columns[number].split(",")}


def view_columns() -> set[str]:
    return set(re.findall(r"^column all_jobs\.(\w+):", read_text("schema.txt"), re.MULTILINE))


def openapi() -> Collection[str]:
    document = msgspec.json.decode((ROOT / "docs" / "openapi.json").read_bytes())
    return document["components"]["schemas"]["JobBody"]["properties"]


def parameters(function: Callable[..., object]) -> Collection[str]:
    return inspect.signature(function).parameters


class Place(NamedTuple):
    """Where an option needs a line: the names that are there, the options that need one, and those left out and why."""

    names: Callable[[], Collection[str]]
    options: Collection[str] = JOB_OPTIONS
    without: Mapping[str, str] = {}


PLACES = {
    "the docstring of JobOptions": Place(lambda: words(str(JobOptions.__doc__))),
    "the fields of NewJob": Place(lambda: NewJob.__struct_fields__),
    "SAMPLES in tests/support/job_options.py": Place(lambda: SAMPLES),
    "JobBody in gateway/nouns/jobs_enqueue.py": Place(lambda: JobBody.__struct_fields__),
    "docs/openapi.json (run tools/openapi.py)": Place(openapi),
    "the flags of `leasehold enqueue`": Place(
        lambda: parameters(enqueue),
        without=dict.fromkeys(("unique", "blockers", "traceparent"), "not offered on the command line"),
    ),
    "c_fields in add_jobs.sql": Place(
        lambda: words(found(r"c_fields\s+constant text\[\] :=\s*'\{(.*?)\}'", FUNCTIONS["add_jobs"]))
    ),
    "the texts of c_no_name in add_jobs.sql": Place(
        lambda: re.findall(r"@\.(\w+)\.type", found(r"c_no_name\s+constant(.*?);", FUNCTIONS["add_jobs"])), TEXTS
    ),
    "the texts that add_jobs.sql names in its complaint": Place(
        lambda: words(found(r"f\.key in \((.*?)\)", FUNCTIONS["add_jobs"])), TEXTS
    ),
    "the first recordset of add_jobs.sql, which is checked": Place(
        lambda: recordset(0),
        without={
            "unique": "refuse_unique checks it",
            "blockers": "add_blockers checks them",
        },
    ),
    "the second recordset of add_jobs.sql, which is stored": Place(lambda: recordset(1), without=ELSEWHERE),
    "the list of known fields in refuse_job.sql": Place(
        lambda: words(found(r"known are (.*?)\n\s*when", FUNCTIONS["refuse_job"]))
    ),
    "the header of enqueue_jobs.sql": Place(lambda: header("enqueue_jobs")),
    "the header of enqueue_job.sql": Place(lambda: header("enqueue_job")),
    "the parameters of enqueue_job.sql": Place(
        lambda: words(found(r"function leasehold\.enqueue_job\((.*?)\) returns", FUNCTIONS["enqueue_job"]))
    ),
    "the object that enqueue_job.sql builds": Place(
        lambda: re.findall(r"'(\w+)',", found(r"jsonb_build_object\((.*)", FUNCTIONS["enqueue_job"]))
    ),
    "the columns of leasehold.jobs in sql/schema.txt": Place(
        lambda: COLUMNS, without={"delay": "it is stored as run_at"} | ELSEWHERE
    ),
    "the insert of add_jobs.sql": Place(lambda: inserted("add_jobs", "jobs"), STORED),
    "the insert of complete_jobs.sql": Place(lambda: inserted("complete_jobs", "finished_jobs"), STORED),
    "the insert of finish_jobs.sql": Place(lambda: inserted("finish_jobs", "finished_jobs"), STORED),
    "the insert of reopen_jobs.sql": Place(
        lambda: inserted("reopen_jobs", "jobs"), STORED, {"deadline": "a job that is run once more has none"}
    ),
    "the view all_jobs": Place(view_columns, STORED),
}


@pytest.mark.parametrize("place", PLACES)
def test_no_place_has_forgotten_an_option(place: str) -> None:
    names, options, without = PLACES[place]
    there = set(names())
    missing = sorted({*options} - there - {*without})
    assert missing == [], f"JobOptions declares {', '.join(missing)}; add it in {place}, or say in PLACES why not"
    stale = sorted(there & {*without})
    assert stale == [], f"{place} has {', '.join(stale)} now; take it out of the exceptions in PLACES"


def test_new_job_has_no_field_that_is_not_an_option_but_these() -> None:
    assert {*NewJob.__struct_fields__} - {*JOB_OPTIONS} == {"kind", "args", "fingerprint", "check_args"}
    assert {*JobBody.__struct_fields__} - {*JOB_OPTIONS} == {"kind", "args", "check_args"}


@pytest.mark.parametrize("name", JOB_OPTIONS)
def test_an_option_has_the_same_type_in_new_job(name: str) -> None:
    declared = JobOptions.__annotations__[name].__forward_arg__
    assert NewJob.__annotations__[name] == declared, f"{name} is {declared} in JobOptions; say so in NewJob, too"


@pytest.mark.parametrize("name", JOB_OPTIONS)
def test_an_option_is_sent_to_the_database_and_checked_before(name: str) -> None:
    job = NewJob(kind="a").but(**cast("Any", {name: SAMPLES[name]}))
    assert name in msgspec.json.decode(encode_document([check_fields(job)]))[0]
    with pytest.raises(LeaseholdError, match=rf"{name}\b"):
        encode_document([check_fields(NewJob(kind="a").but(**cast("Any", {name: object()})))])


@pytest.mark.parametrize("name", JOB_OPTIONS)
def test_an_option_comes_from_the_body_of_a_request(name: str) -> None:
    sent = SAMPLES[name] if name != "deadline" else SAMPLES["run_at"]
    body = msgspec.json.decode(msgspec.json.encode({"kind": "a", name: sent}), type=JobBody)
    limits: Any = SimpleNamespace(args_bytes=100)
    assert getattr(new_job(body, limits), name) == sent


def test_an_option_that_can_be_edited_can_be_edited_everywhere() -> None:
    sql = words(found(r"function leasehold\.edit_job\((.*?)\) returns", FUNCTIONS["edit_job"])) & {*JOB_OPTIONS}
    assert {*EditBody.__struct_fields__} & {*JOB_OPTIONS} == sql, "EditBody and edit_job.sql differ"
    assert {*parameters(jobs_edit)} & {*JOB_OPTIONS} == sql, "`leasehold jobs edit` and edit_job.sql differ"


def test_an_option_that_a_schedule_has_is_one_in_code_and_in_its_definition() -> None:
    defined = {*ScheduleDefinition.__struct_fields__} & {*JOB_OPTIONS}
    assert {*ScheduleOptions.__annotations__} & {*JOB_OPTIONS} == defined, (
        "ScheduleOptions and ScheduleDefinition differ"
    )
