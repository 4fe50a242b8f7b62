from __future__ import annotations

import fcntl
import os
import pwd

import pytest

from leasehold.database.embedded import system_user
from leasehold.database.embedded.system_user import SystemUser


def test_only_one_process_at_a_time_makes_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[bool] = []

    def nobody(name: str) -> pwd.struct_passwd:
        raise KeyError(name)

    def make_user() -> pwd.struct_passwd:
        another = os.open("/etc", os.O_RDONLY)
        try:
            fcntl.flock(another, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            refused.append(True)
        finally:
            os.close(another)
        return pwd.getpwuid(os.getuid())

    monkeypatch.setattr(system_user.pwd, "getpwnam", nobody)
    monkeypatch.setattr(system_user, "_make_user", make_user)
    assert SystemUser.find().uid == os.getuid()
    assert refused == [True]
