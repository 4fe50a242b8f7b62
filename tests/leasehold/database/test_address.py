from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from leasehold.database import open_database
from leasehold.database.address import HOST_SECONDS, LEFT_OUT, read_address
from leasehold.errors import DatabaseUnavailable, WrongAddress

HERE = "postgresql://u@h/x"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in ("PGHOST", "PGPORT", "PGSSLMODE", "PGSSLROOTCERT", "PGCONNECT_TIMEOUT", "PGTARGETSESSIONATTRS"):
        monkeypatch.delenv(name, raising=False)


def test_what_no_time_heals_is_refused_with_its_parameter_and_file(tmp_path: Path) -> None:
    text = tmp_path / "text.pem"
    text.write_text("no certificate")
    wrong = {
        "sslmode=bogus": "sslmode=bogus: it is one of disable",
        "target_session_attrs=bogus": "target_session_attrs=bogus: it is one of any",
        "connect_timeout=soon": "connect_timeout=soon: it is a number",
        f"sslrootcert={tmp_path}/none.pem": f"sslrootcert={tmp_path}/none.pem: No such file",
        f"sslcert={tmp_path}/none.pem": f"sslcert={tmp_path}/none.pem: No such file",
        f"sslkey={tmp_path}": f"sslkey={tmp_path}: Is a directory",
        f"sslrootcert={text}": f"sslrootcert={text}: this file has no certificates",
        f"sslcert={text}&sslkey={text}": f"sslcert={text}, sslkey={text}: they are no pair",
        "host=a,b&port=x": "port=x: it is a number",
        "port=5432x": "port=5432x: it is a number",
        "port=70000": "port=70000: it is a number from 1 to 65535",
        "sslrootcert=system&sslmode=require": "goes with sslmode=verify-full alone",
    }
    for query, message in wrong.items():
        with pytest.raises(WrongAddress) as caught:
            read_address(f"{HERE}?{query}")
        assert message in str(caught.value)
    addresses = {
        "postgresql://h:x/x": "the port of a host is no number",
        "postgresql://[::1/x": "Invalid IPv6 URL",
        "postgresql://u:s3@cr3t@h/x": "more than one @",
        "postgresql://u:s3/cr3t@h/x": "the port of a host is no number",
    }
    for address, message in addresses.items():
        with pytest.raises(WrongAddress, match=message) as caught:
            read_address(address)
        assert "s3" not in str(caught.value)  # a part of the password
        assert "cr3t" not in str(caught.value)


def test_files_of_the_home_folder_that_cannot_be_read_are_named_where_they_would_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_address(HERE)
    for name in ("root.crt", "postgresql.crt"):
        (tmp_path / ".postgresql" / name).mkdir(parents=True)  # as little a file as one of another user
        with pytest.raises(WrongAddress, match=rf"{name}: .*; set HOME to a folder that this user may read"):
            read_address(f"{HERE}?sslmode=require")
        (tmp_path / ".postgresql" / name).rmdir()
    (tmp_path / ".postgresql" / "postgresql.key").mkdir()
    with pytest.raises(WrongAddress, match=r"postgresql\.key"):
        read_address(HERE)
    assert read_address(f"{HERE}?sslmode=disable")
    assert read_address("postgresql://u@/x?host=/run")


def test_an_address_without_a_user_needs_one_who_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container a process may run under any number."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME", "PGUSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 54321)
    with pytest.raises(WrongAddress, match=r"names no user, and this process runs as one without a name \(54321\)"):
        read_address("postgresql:///x?host=/run")
    monkeypatch.setenv("PGUSER", "u")
    assert read_address("postgresql:///x?host=/run")


def test_variables_are_looked_at_as_parameters_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGSSLMODE", "bogus")
    with pytest.raises(WrongAddress, match="sslmode=bogus"):
        read_address("")
    monkeypatch.setenv("PGSSLMODE", "disable")
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "7")
    assert read_address("") == ("", [{}], 7.0, [])


def test_what_asyncpg_would_send_to_the_server_is_left_out_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    for name in sorted(LEFT_OUT):
        for _ in range(2):
            assert read_address(f"{HERE}?{name}=tried&application_name=mine").dsn == f"{HERE}?application_name=mine"
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert sorted(line.partition("=")[0] for line in said) == sorted(LEFT_OUT)


def test_the_systems_certificates_stand_for_a_file() -> None:
    address = read_address(f"{HERE}?sslrootcert=system&sslmode=verify-full")
    assert address.dsn == HERE
    assert address.places[0]["ssl"].check_hostname


def test_each_host_has_its_own_time() -> None:
    def places(rest: str, query: str = "") -> list[tuple[Any, ...]]:
        return [tuple(place.values()) for place in read_address(f"postgresql://u@{rest}/x{query}").places]

    assert places("one") == [()]
    assert places("one,two:7") == [("one", 5432, "any"), ("two", 7, "any")]
    assert places("[::1]:6,%2Frun") == [("::1", 6, "any"), ("/run", 5432, "any")]
    assert places("", "?host=a,b&port=1,2") == [("a", 1, "any"), ("b", 2, "any")]
    assert places("a,b", "?target_session_attrs=prefer-standby") == [
        ("a", 5432, "standby"), ("b", 5432, "standby"), ("a", 5432, "any"), ("b", 5432, "any"),
    ]  # fmt: skip
    assert read_address("postgresql://u@a,b/x").seconds == HOST_SECONDS
    assert read_address("postgresql://u@a,b/x?connect_timeout=1").seconds == 2.0
    assert read_address(f"{HERE}?connect_timeout=0").seconds is None


async def test_a_host_that_is_away_does_not_keep_from_the_next_one(database_url: str) -> None:
    host = "host="
    assert host in database_url
    for hosts in ("host=%2Fnowhere,", "host=127.0.0.1,"):
        async with open_database(database_url.replace(host, hosts)) as database:
            assert await database.fetch("select 1")
    nowhere = database_url.replace(host, "host=%2Fnowhere,%2Fneither&target_session_attrs=primary&no_host=")
    async with open_database(nowhere) as database:
        with pytest.raises(DatabaseUnavailable, match="cannot be reached"):
            await database.fetch("select 1")
