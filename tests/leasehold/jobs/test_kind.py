from __future__ import annotations

import functools
from typing import Any

import msgspec
import pytest

from leasehold.app import App
from leasehold.errors import BadInput, InvalidArgs
from leasehold.jobs.job import Job
from leasehold.jobs.kind import CheckedKindOptions, Kind


class Address(msgspec.Struct):
    street: str
    number: int


async def deliver(job: Job, to: Address, weight: float, tags: list[str] | None = None) -> str:
    return f"{job.id} {to.street}"


def a_kind(**options: Any) -> Kind[..., Any]:
    return Kind("deliver", deliver, None, CheckedKindOptions(**options))


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

    kind: Kind[..., Any] = Kind("ping", ping, None, CheckedKindOptions())
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
        Kind("confused", confused, None, CheckedKindOptions())


def test_async_handlers_run_under_trio_and_others_in_a_thread_unless_told() -> None:
    def plain() -> None: ...

    assert Kind("a", deliver, None, CheckedKindOptions()).runs == "trio"
    assert Kind("b", plain, None, CheckedKindOptions()).runs == "thread"
    assert Kind("c", deliver, "asyncio", CheckedKindOptions()).runs == "asyncio"


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_lease_or_timeout_of_no_time_is_refused(seconds: float) -> None:
    with pytest.raises(BadInput, match="lease must be at least 1 "):
        CheckedKindOptions(lease=seconds)
    with pytest.raises(BadInput, match="timeout must be more than 0"):
        CheckedKindOptions(timeout=seconds)


@pytest.mark.parametrize("seconds", [86_401, float("inf")])
def test_a_lease_that_a_dead_worker_would_hold_for_days_is_refused(seconds: float) -> None:
    with pytest.raises(BadInput, match="at most 86400"):
        CheckedKindOptions(lease=seconds)


@pytest.mark.parametrize("level", ["loud", "", "10"])
def test_an_unknown_level_for_kept_logs_is_refused(level: str) -> None:
    with pytest.raises(BadInput, match="keep_logs must be one of DEBUG, INFO"):
        CheckedKindOptions(keep_logs=level)
    assert CheckedKindOptions(keep_logs="warning").keep_logs == "warning"


def plain() -> None: ...


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        ({"mode": "atomik"}, "^mode must be one of atomic, not 'atomik'"),
        ({"max_attempts": 0}, "^max_attempts must be an integer from 1 to 1000000, not 0"),
        ({"max_attempts": "5"}, "^max_attempts must be an integer .*, not '5'"),
        ({"max_attempts": True}, "^max_attempts must be an integer .*, not True"),
        ({"priority": "x"}, "^priority must be an integer .*, not 'x'"),
        ({"priority": 2**31}, "^priority must be an integer .*, not 2147483648"),
        ({"queue": 5}, "^queue must be text, not 5"),
        ({"queue": "a,b"}, "^queue must be a name without a comma, not 'a,b'"),
        ({"queue": "a "}, "^queue must be a name without a space at an end, not 'a '"),
        ({"queue": ""}, "^queue must be text of 1 to 200 bytes .*, not ''"),
        ({"retry": 5}, "^retry must be a RetryPolicy, not 5"),
        ({"unique": "key"}, "^unique must be a Unique, not 'key'"),
        ({"timeout": "5"}, "^timeout must be a number of seconds or a timedelta, not '5'"),
        ({"deadline": True}, "^deadline must be a number of seconds or a timedelta, not True"),
        ({"lease": [1]}, r"^lease must be a number of seconds or a timedelta, not \[1\]"),
        ({"middlewares": [5]}, "^a middleware must be a function, not 5"),
        ({"middlewares": "text"}, "middleware"),
        ({"middlewares": 5}, "^middlewares must be a list of functions, not 5"),
        ({"memory_limit": True}, "^memory_limit is in bytes and at least 67108864, not True"),
        ({"memory_limit": "1GB"}, "^memory_limit is in bytes and at least 67108864, not '1GB'"),
        ({"memory_limit": float("inf")}, "^memory_limit is in bytes and at least 67108864, not inf"),
        ({"keep_logs": 10}, "^keep_logs must be one of DEBUG.*, not 10"),
    ],
    ids=str,
)
def test_an_option_that_there_is_not_is_refused_with_its_name_when_the_kind_is_registered(
    option: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(BadInput, match=complaint):
        App().kind(**option)


@pytest.mark.parametrize("value", ["asynco", "", 5])
def test_a_way_to_run_that_there_is_not_is_refused_and_never_completes_a_job_unrun(value: Any) -> None:
    with pytest.raises(BadInput, match=f"^runs must be one of trio, asyncio, thread, process, not {value!r}"):
        App().kind(runs=value)
    with pytest.raises(BadInput, match=f"runs must be one of trio, asyncio, thread, process, not {value!r}"):
        Kind("deliver", deliver, value, CheckedKindOptions())


def test_a_function_that_cannot_run_as_told_is_refused() -> None:
    with pytest.raises(BadInput, match="handler deliver is async, so it cannot have runs='thread'"):
        Kind("deliver", deliver, "thread", CheckedKindOptions())
    for runs in ("trio", "asyncio"):
        with pytest.raises(BadInput, match=f"handler plain is no async def, so it cannot have runs='{runs}'"):
            Kind("plain", plain, runs, CheckedKindOptions())


def test_a_class_is_no_handler() -> None:
    class Mailer:
        pass

    with pytest.raises(BadInput, match="handler mail is a class, and its output would be an object of it"):
        Kind("mail", Mailer, "thread", CheckedKindOptions())


def test_a_generator_is_no_handler() -> None:
    def some() -> Any:
        yield 1

    async def others() -> Any:
        yield 1

    for function in (some, others):
        with pytest.raises(BadInput, match=f"handler {function.__name__} is a generator"):
            App().kind(function)


@pytest.mark.parametrize("given", [functools.partial(deliver, weight=1.0), 5, "deliver"])
def test_what_is_no_function_is_no_handler(given: Any) -> None:
    with pytest.raises(BadInput, match=r"is no function; write a def around it|must be a function, not"):
        Kind("deliver", given, None, CheckedKindOptions())


def test_a_plain_wrapper_of_an_async_handler_may_run_under_trio() -> None:
    @functools.wraps(deliver)
    def wrapper(*args: Any, **named: Any) -> Any:
        return deliver(*args, **named)

    assert Kind("deliver", wrapper, "trio", CheckedKindOptions()).runs == "trio"
