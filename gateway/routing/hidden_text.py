"""Secrets in free text that stand beside their names: `password=…`, `"token": "…"`, `Authorization: …`, `scheme://user:…@host`."""

from __future__ import annotations

import re
from collections.abc import Callable

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
