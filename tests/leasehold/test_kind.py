from __future__ import annotations

from typing import Any

import msgspec
import pytest

from leasehold.errors import BadInput, InvalidArgs
from leasehold.job import Job
from leasehold.kind import Kind, KindOptions


class Address(msgspec.Struct):
    street: str
    number: int


async def deliver(job: Job, to: Address, weight: float, tags: list[str] | None = None) -> str:
    return f"{job.id} {to.street}"


def a_kind(**options: Any) -> Kind[..., Any]:
    return Kind("deliver", deliver, None, KindOptions(**options))


def test_a_job_is_made_by_position_and_by_name() -> None:
    by_position = a_kind().new(Address("Main", 1), 2.5)
    by_name = a_kind().new(weight=2.5, to=Address("Main", 1))
    for made in (by_position, by_name):
        assert isinstance(made.args, msgspec.Raw)
        assert msgspec.json.decode(made.args) == {"to": {"street": "Main", "number": 1}, "weight": 2.5}
    assert (by_position.kind, by_position.queue, by_position.priority) == ("deliver", None, None)


def test_the_options_of_the_kind_are_the_jobs_unless_the_producer_says_otherwise() -> None:
    made = a_kind(queue="vans", priority=4, max_attempts=2).new(Address("Main", 1), 1.0)
    assert (made.queue, made.priority, made.max_attempts) == ("vans", 4, 2)


@pytest.mark.parametrize(
    ("args", "named", "complaint"),
    [
        ((), {"to": {"street": "Main", "number": 1}}, "weight"),
        (
            (),
            {"to": {"street": "Main", "number": "1"}, "weight": 1.0},
            r"Expected `int`, got `str` - at `\$\.to\.number`",
        ),
        ((), {"to": Address("Main", 1), "weight": 1.0, "colour": "red"}, "colour"),
        ((Address("Main", 1), 1.0, None, 4), {}, r"takes \(to, weight, tags\)"),
        ((Address("Main", 1),), {"to": Address("Main", 2), "weight": 1.0}, r"takes \(to, weight, tags\)"),
        ((Address("Main", 1), float("nan")), {}, "nan"),
        ((Address("\x00", 1), 1.0), {}, "u0000"),
    ],
)
def test_wrong_args_are_refused_where_the_job_is_made(
    args: tuple[Any, ...], named: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(InvalidArgs, match=complaint):
        a_kind().new(*args, **named)


def test_args_come_back_as_the_types_of_the_signature() -> None:
    made = a_kind().decode_args('{"to": {"street": "Main", "number": 1}, "weight": 2}')
    assert made == {"to": Address("Main", 1), "weight": 2.0, "tags": None}


def test_a_handler_without_parameters_takes_empty_args_only() -> None:
    async def ping() -> None: ...

    kind: Kind[..., Any] = Kind("ping", ping, None, KindOptions())
    assert kind.decode_args("{}") == {}
    with pytest.raises(InvalidArgs, match="n"):
        kind.decode_args('{"n": 1}')


@pytest.mark.parametrize("encoded", ["[]", "null", '"x"', "{", "", "[" * 100_000, '{"to": 1e999}'])
def test_json_that_does_not_fit_is_refused_and_never_raises_anything_else(encoded: str) -> None:
    with pytest.raises(InvalidArgs):
        a_kind().decode_args(encoded)


def test_a_signature_whose_types_json_cannot_tell_apart_is_refused_when_it_is_registered() -> None:
    async def confused(n: list[int] | set[int]) -> None: ...

    with pytest.raises(InvalidArgs, match="confused"):
        Kind("confused", confused, None, KindOptions())


def test_async_handlers_run_under_trio_and_others_in_a_thread_unless_told() -> None:
    def plain() -> None: ...

    assert Kind("a", deliver, None, KindOptions()).runs == "trio"
    assert Kind("b", plain, None, KindOptions()).runs == "thread"
    assert Kind("c", deliver, "asyncio", KindOptions()).runs == "asyncio"


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_lease_or_timeout_of_no_time_is_refused(seconds: float) -> None:
    with pytest.raises(BadInput, match="lease must be more than 0"):
        KindOptions(lease=seconds)
    with pytest.raises(BadInput, match="timeout must be more than 0"):
        KindOptions(timeout=seconds)


@pytest.mark.parametrize("seconds", [86_401, float("inf")])
def test_a_lease_that_a_dead_worker_would_hold_for_days_is_refused(seconds: float) -> None:
    with pytest.raises(BadInput, match="at most 86400"):
        KindOptions(lease=seconds)


@pytest.mark.parametrize("level", ["loud", "", "10"])
def test_an_unknown_level_for_kept_logs_is_refused(level: str) -> None:
    with pytest.raises(BadInput, match="keep_logs must be one of DEBUG, INFO"):
        KindOptions(keep_logs=level)
    assert KindOptions(keep_logs="warning").keep_logs == "warning"
