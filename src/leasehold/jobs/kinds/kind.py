"""A kind of job: its name, its handler, the types of its args, and its options."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, Generic, ParamSpec, TypeVar

import msgspec

from leasehold import validation
from leasehold.errors import BadInput, InvalidArgs
from leasehold.jobs.kinds.arguments import args_type, derived_key, encode_args, takes_job
from leasehold.jobs.kinds.flavours import RUNS, Runs, chosen_runs, refuse_flavour
from leasehold.jobs.kinds.foreign_types import from_json
from leasehold.jobs.kinds.importing import refuse_unimportable
from leasehold.jobs.kinds.kind_options import DEFAULTS_OF_JOBS, CheckedKindOptions
from leasehold.jobs.producing.new_job import NewJob
from leasehold.jobs.producing.unique import by_default

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class Kind(Generic[P, R_co]):
    """A registered handler: `@app.kind()` makes one of a function, and `new(...)` makes a job of it.

    Calling a kind calls its function, here and now: `greet("Ada")`. It makes no job.

    Attributes:
        name: of the kind, unique in its app.
        function: the handler.
        runs: `trio`, `asyncio`, `thread` or `process`.
        options: checked, with times in seconds.
        takes_any_args: whether its handler gets its args as one dict.
    """

    takes_any_args = False

    def __init__(self, name: str, function: Callable[..., Any], runs: Runs | None, options: CheckedKindOptions) -> None:
        validation.check_name("the name of a kind", name)
        self.name = name
        self.function = validation.check_function(f"handler of {name}", function)
        if runs is not None:
            validation.check_choice(f"handler {name}: runs", runs, RUNS)
        self.runs: Runs = chosen_runs("trio", name, function) if runs is None else runs
        self.options = options
        refuse_flavour(name, function, self.runs)
        if self.runs == "process":
            refuse_unimportable(name, function)
        elif options.memory_limit is not None:
            raise BadInput(f"handler {name}: memory_limit is for runs='process'; this one runs in {self.runs}")
        if self.runs == "process" and options.mode is not None:
            raise BadInput(f"handler {name}: a process has no connection of its own, so it cannot be {options.mode}")
        self.is_atomic = options.mode == "atomic"
        self.takes_job = takes_job(function)
        self.args_type = args_type(function)
        try:
            self._decoder = msgspec.json.Decoder(self.args_type, dec_hook=from_json)
        except (TypeError, NameError) as error:
            raise InvalidArgs(f"handler {name}: its args cannot be told from JSON: {error}") from error
        self._fields = self.args_type.__struct_fields__
        self._unique = by_default(options.unique)
        for field in options.unique.args_fields() if options.unique is not None else ():
            if field not in self._fields:
                raise BadInput(f"unique.by names args.{field}; {name} takes ({', '.join(self._fields)})")
        self._places = [(each, place) for each in ("key", "key_group") if (place := getattr(options, each)) is not None]
        for each, place in self._places:
            if place.split(".")[1] not in self._fields and not self.takes_any_args:
                raise BadInput(f"{each} names {place}; {name} takes ({', '.join(self._fields)})")

    def __repr__(self) -> str:
        return f"<Kind {self.name!r} runs={self.runs}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns; a handler that takes the job needs one as its first argument."""
        return self.function(*args, **kwargs)

    def new(self, *args: P.args, **kwargs: P.kwargs) -> NewJob[R_co]:
        """A job of this kind with these args, checked against the signature of the handler.

        Raises:
            InvalidArgs: a name or a type is wrong, or JSON cannot hold a value.
        """
        encoded = self.encode(self._bind(args, kwargs))
        return self.with_defaults(NewJob(kind=self.name, args=msgspec.Raw(encoded)))

    def with_defaults(self, job: NewJob) -> NewJob:
        """The job with the queue, priority, attempts, unique, deadline and, where its args are encoded, keys of this kind where
        it has none of its own. Raises InvalidArgs: an object or a list is where its key should be."""
        changes = {name: getattr(self.options, name) for name in DEFAULTS_OF_JOBS if getattr(job, name) is None}
        if job.unique is None and self._unique is not None:
            changes["unique"] = self._unique
        if job.deadline is None and self.options.deadline is not None:
            changes["deadline"] = timedelta(seconds=self.options.deadline)
        for name, place in self._places:
            if getattr(job, name) is None and isinstance(job.args, msgspec.Raw):
                changes[name] = derived_key(bytes(job.args), place, f"{name.replace('_', ' ')} of {self.name}")
        return msgspec.structs.replace(job, **changes)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        named = dict(zip(self._fields, args, strict=False))
        twice = named.keys() & kwargs.keys()
        if len(args) > len(self._fields) or twice:
            takes = ", ".join(self._fields)
            raise InvalidArgs(f"{self.name} takes ({takes}); got {len(args)} positional and {sorted(kwargs)}")
        return named | kwargs

    def refuse_unknown(self, names: Iterable[str]) -> None:
        """Refuse names that the handler does not take. Raises InvalidArgs."""
        if unknown := sorted(set(names) - set(self._fields)):
            raise InvalidArgs(f"{self.name} takes ({', '.join(self._fields)}), not {', '.join(unknown)}")

    def encode(self, named: dict[str, Any]) -> bytes:
        """JSON for these args, after a check that it decodes into what the handler takes. Raises InvalidArgs."""
        encoded = encode_args(named, f"args of {self.name}")
        self.decode(encoded)
        return encoded

    def decode(self, encoded: bytes | str) -> dict[str, Any]:
        """The handler's named arguments, from JSON.

        Raises:
            InvalidArgs: the JSON does not fit the signature.
        """
        try:
            decoded = self._decoder.decode(encoded)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InvalidArgs(f"args do not fit {self.name}({', '.join(self._fields)}): {error}") from error
        return {name: getattr(decoded, name) for name in self._fields}

    def decode_args(self, encoded: str) -> dict[str, Any]:
        """The named arguments of the handler; as `decode`, and faster without args. Raises InvalidArgs."""
        return self.decode(encoded) if self._fields or encoded != "{}" else {}
