"""What is said of errors, and what is not."""

from __future__ import annotations

import io
import os

import pytest

from leasehold.cli.runtime.terminal import Terminal
from leasehold.cli.shell.complaints import complain


@pytest.mark.parametrize(("has_reader", "code"), [(True, 1), (False, 141)])
def test_a_broken_pipe_is_a_failure_unless_it_is_standard_output(has_reader: bool, code: int) -> None:
    reader, writer = os.pipe()
    stderr = io.StringIO()
    with os.fdopen(writer, "w") as stdout:
        if not has_reader:
            os.close(reader)
        assert (
            complain(
                BrokenPipeError(32, "Broken pipe"), Terminal(io.StringIO(), stdout, stderr, {}), has_traceback=False
            )
            == code
        )
    if has_reader:
        os.close(reader)
    assert ("Broken pipe" in stderr.getvalue()) is has_reader
