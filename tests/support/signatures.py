"""The signatures of SQL functions, read whole: whether what could call a former one can call the present one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import msgspec


class Value(msgspec.Struct, frozen=True):
    """A parameter, or a column of an answer."""

    name: str
    type: str


class Signature(msgspec.Struct, frozen=True):
    """One function. `optional`: how many parameters have a default, the last ones. A scalar has one column without a name."""

    function: str
    parameters: tuple[Value, ...]
    optional: int
    is_set: bool
    columns: tuple[Value, ...]

    @classmethod
    def parse(cls, line: str) -> Signature:
        """From a line of the files. Raises ValueError for another one."""
        found = re.fullmatch(r"(\w+)\((.*?)\) -> (setof )?(\(.*\)|[^()]+)", line)
        if found is None:
            raise ValueError(f"no signature: {line!r}")
        parameters = [each for each in found[2].split(", ") if each]
        answer = found[4]
        columns = [_value(each) for each in answer[1:-1].split(", ")] if answer.startswith("(") else [Value("", answer)]
        return cls(
            function=found[1],
            parameters=tuple(_value(each.removesuffix(" =")) for each in parameters),
            optional=sum(each.endswith(" =") for each in parameters),
            is_set=found[3] is not None,
            columns=tuple(columns),
        )

    def misfit(self, former: Signature) -> str | None:
        """Why a caller of `former` cannot call this instead, or would not understand the answer; None if it can."""
        for place, wanted in enumerate(former.parameters, 1):
            if place > len(self.parameters):
                return f"parameter {wanted.name} is gone"
            if (here := self.parameters[place - 1]) != wanted:
                return f"parameter {place} was {wanted.name} {wanted.type} and is {here.name} {here.type}"
        if len(self.parameters) - self.optional > len(former.parameters) - former.optional:
            return f"parameter {self.parameters[len(former.parameters) - former.optional].name} has no default"
        if self.is_set != former.is_set:
            return "it answers with " + ("rows" if self.is_set else "one value") + " now"
        if self.columns[: len(former.columns)] != former.columns:
            return "the first columns of its answer are not the former ones"
        return (
            "its answer is no single value any more" if len(self.columns) > 1 and not former.columns[0].name else None
        )


def parse(text: str) -> list[Signature]:
    """The signatures of a file."""
    return [Signature.parse(line) for line in text.splitlines() if line and not line.startswith("#")]


def broken_calls(former: Iterable[Signature], current: Collection[Signature]) -> list[str]:
    """The former signatures that no function takes any more, with the reasons."""
    found: list[str] = []
    for signature in former:
        reasons = [each.misfit(signature) for each in current if each.function == signature.function]
        if None not in reasons:
            found.append(f"{signature.function}: {' · '.join(filter(None, reasons)) or 'it is gone'}")
    return found


def _value(text: str) -> Value:
    name, _, kind = text.partition(" ")
    return Value(name, kind)
