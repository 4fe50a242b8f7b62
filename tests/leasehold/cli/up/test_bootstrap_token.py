from __future__ import annotations

from pathlib import Path

import pytest

from leasehold.access.tokens import is_token
from leasehold.cli.up.first_steps import has_token, keep_token
from leasehold.errors import SettingsError


def test_a_token_is_made_once_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    assert not has_token(tmp_path)
    made = keep_token(tmp_path)
    assert is_token(made.secret)
    assert made.is_new
    assert made.path.stat().st_mode & 0o777 == 0o600
    again = keep_token(tmp_path)
    assert (again.secret, again.is_new, has_token(tmp_path)) == (made.secret, False, True)


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    keep_token(tmp_path).path.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        keep_token(tmp_path)


def test_a_file_that_holds_no_token_is_refused(tmp_path: Path) -> None:
    keep_token(tmp_path).path.write_text("hello\n")
    with pytest.raises(SettingsError, match="holds no token"):
        keep_token(tmp_path)
