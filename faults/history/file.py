"""A history as one file: a JSON array on each line, the first field says what it is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from faults.history.history import History
from faults.history.records import Entry

LINE = msgspec.json.Decoder(Entry)


def write_history(path: Path, entries: Iterable[Entry]) -> int:
    """Write these records; returns how many."""
    encoder = msgspec.json.Encoder()
    written = 0
    with path.open("wb", buffering=1 << 20) as file:
        for entry in entries:
            file.write(encoder.encode(entry) + b"\n")
            written += 1
    return written


def read_entries(path: Path) -> Iterable[Entry]:
    """The records of a file, one by one. A last line that a killed process left unfinished is passed over."""
    with path.open("rb", buffering=1 << 20) as file:
        for line in file:
            if line.endswith(b"\n"):
                yield LINE.decode(line)


def read_history(path: Path) -> History:
    """The history in a file."""
    return History(read_entries(path))
