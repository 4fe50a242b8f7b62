"""Secrets in free text that stand beside their names: `password=…`, `"token": "…"`, `Authorization: …`, `scheme://user:…@host`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, cast

import msgspec

from leasehold.gateway.access.identities import Identity, Scope
from leasehold.gateway.http.problems import refuse_field

LINES = re.compile(
    r"""(?i)(?<![\w-])(?P<key>(?:proxy-)?authorization|(?:set-)?cookie)"""
    r"""(?P<between>["']?[ \t]{0,3}[:=][ \t]{0,3})(?P<value>[^\r\n]+)"""
)
"""Headers, whose values go on to the end of the line."""
NAMED = re.compile(
    r"""(?<![\w-])(?P<key>[\w-]{1,64})(?P<between>\\?["']?\s{0,3}(?:[=:]|=>)\s{0,3})"""
    r"""(?P<value>\\?"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\s,;&)\]}"']+)"""
)
USERS = re.compile(r"(?P<before>\b[a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^/\s:@]{0,200}:)[^/\s@]{1,200}(?=@)")


def without_secrets(text: str, is_hidden: Callable[[str], bool], mark: str) -> str:
    """The text with `mark` in place of what stands beside a key that is hidden, and of passwords in addresses."""

    def replace(found: re.Match[str]) -> str:
        is_done = found["value"].startswith(mark[:-1])
        return f"{found['key']}{found['between']}{mark}" if is_hidden(found["key"]) and not is_done else found[0]

    if "=" not in text and ":" not in text:
        return text
    text = USERS.sub(lambda found: found["before"] + mark, text)
    return NAMED.sub(replace, LINES.sub(replace, text))


MARK = "[hidden]"
CONTENTS = frozenset({"args", "output", "error", "metadata", "detail", "details", "facts", "result"})
"""Fields of answers whose content belongs to the jobs' own people."""
TEXTS = frozenset({"message", "traceback", "explanation", "last_message", "last_error"})
"""Fields of answers with text that may repeat such content."""
COPIES = frozenset({"platform", "state_code"})
"""Fields of answers, in the words of task workers, that repeat what stands under the same key in such content."""

MOST_REMEMBERED = 4096


IsHidden = Callable[[str], bool]


class Hiding:
    """Decides by the names of keys. `patterns` are words with `*` for anything; case does not matter. `by_kind` has more of them
    for jobs of one kind, as `charge:iban`; where an answer does not say whose content it has, those of all kinds apply.

    A caller with the scope operate sees everything: whoever changes or repeats a job needs its args as they are.
    """

    def __init__(self, patterns: Iterable[str], by_kind: Iterable[str] = ()) -> None:
        common = list(patterns)
        own: dict[str, list[str]] = {}
        for each in by_kind:
            kind, _, pattern = each.partition(":")
            own.setdefault(kind, []).append(pattern)
        self._common = _judge_of(common)
        self._by_kind = {kind: _judge_of([*common, *others]) for kind, others in own.items()}
        self._any = _judge_of([*common, *(each for others in own.values() for each in others)])
        self._is_needed = bool(common or own)

    def concerns(self, identity: Identity) -> bool:
        """Whether this caller is not shown everything."""
        return self._is_needed and Scope.OPERATE not in identity.scopes

    def answer(self, value: object) -> object:
        """The answer of a route, with the contents that it has hidden."""
        if isinstance(value, msgspec.Struct):
            judge = self._judge(getattr(value, "kind", None) if hasattr(value, "args") else None)
            fields = msgspec.structs.asdict(value)
            return msgspec.structs.replace(
                value, **{name: self._field(name, old, judge) for name, old in fields.items()}
            )
        if isinstance(value, Mapping):
            fields = cast("Mapping[str, object]", value)
            judge = self._judge(fields.get("kind"))
            return {name: self._field(name, old, judge) for name, old in fields.items()}
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return [self.answer(each) for each in cast("Sequence[object]", value)]
        return cast("object", value)

    def refuse_search(self, identity: Identity, wanted: Any, path: str) -> None:
        """Raises Refusal where a caller looks for values that are not shown to it: the answer would tell them."""
        if self.concerns(identity) and shown(wanted, self._any) != wanted:
            raise refuse_field(path, "It looks for a value that is hidden from tokens without the scope operate")

    def _judge(self, kind: object) -> IsHidden:
        return self._by_kind.get(kind, self._common) if isinstance(kind, str) else self._any

    def _field(self, name: str, value: object, judge: IsHidden) -> object:
        if name in COPIES:
            return cast("object", shown({name: value}, judge)[name])
        is_text = name in TEXTS and isinstance(value, str)
        return shown(value, judge) if name in CONTENTS or is_text else self.answer(value)


def shown(value: Any, is_hidden: IsHidden) -> Any:
    """JSON without what lies under hidden keys, or beside them in its texts; null stays null."""
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, Any]", value).items()
        return {key: MARK if each is not None and is_hidden(key) else shown(each, is_hidden) for key, each in pairs}
    if isinstance(value, list | tuple):
        return [shown(each, is_hidden) for each in cast("Sequence[Any]", value)]
    return without_secrets(value, is_hidden, MARK) if isinstance(value, str) else value


def _judge_of(patterns: Sequence[str]) -> IsHidden:
    lowered = tuple(pattern.lower() for pattern in patterns)

    def is_hidden(key: str) -> bool:
        return any(fnmatchcase(key.lower(), each) for each in lowered)

    return lru_cache(MOST_REMEMBERED)(is_hidden)
