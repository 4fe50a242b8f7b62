from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from leasehold.errors import SettingsError
from leasehold.settings import Settings, describe_setting, explain, load_settings
from leasehold.settings.settings import FORCE_SECONDS, seconds_to_stop
from leasehold.settings.sources import ALIASES, environment_name, flag_name

WITHOUT_FLAG = {"host", "k8s_namespace", "k8s_worker_statefulset"}


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No settings file of the checkout interferes."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(flags: dict[str, object] | None = None, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(flags or {}, environ or {})
    return str(caught.value)


def test_without_any_source_the_defaults_count() -> None:
    assert load_settings({}, {}) == Settings()


def test_flags_win_over_environment_over_file_over_defaults(empty_folder: Path) -> None:
    (empty_folder / "leasehold.toml").write_text("slots = 4\npoll_seconds = 2\nretention_days = 3\n")
    environ = {"LEASEHOLD_SLOTS": "5", "LEASEHOLD_POLL_SECONDS": "1"}
    settings = load_settings({"slots": 6}, environ)
    assert (settings.slots, settings.poll_seconds, settings.retention_days) == (6, 1, 3)
    assert settings.heartbeat_seconds == 30


def test_a_flag_that_is_none_was_not_given() -> None:
    assert load_settings({"slots": None}, {"LEASEHOLD_SLOTS": "5"}).slots == 5


def test_an_empty_environment_variable_was_not_given() -> None:
    assert load_settings({}, {"LEASEHOLD_SLOTS": "", "MAX_CONCURRENT_TASKS": "7"}).slots == 7


def test_the_documented_aliases_work_as_given() -> None:
    environ = {
        "WORKER_ROLE": "crawl, parse",
        "WORKER_ID": "pod-1",
        "POLL_INTERVAL_MS": "250",
        "HEARTBEAT_INTERVAL_MS": "1500",
        "MAX_CONCURRENT_TASKS": "8",
        "MEMORY_BACKOFF_THRESHOLD": "0.5",
        "CPU_BACKOFF_THRESHOLD": "0.25",
        "BACKOFF_DURATION_MS": "10000",
    }
    settings = load_settings({}, environ)
    assert settings == Settings(
        queues=("crawl", "parse"),
        worker_id="pod-1",
        poll_seconds=0.25,
        heartbeat_seconds=1.5,
        slots=8,
        memory_backoff=0.5,
        cpu_backoff=0.25,
        backoff_seconds=10,
    )


@pytest.mark.parametrize("name", list(ALIASES))
def test_our_own_variable_wins_over_its_alias(name: str) -> None:
    own = {
        "database_url": "postgresql://own/db",
        "queues": "own",
        "worker_id": "own",
        "slots": "2",
        "gateway_port": "2",
    }.get(name, "0.125")
    environ = {environment_name(name): own, **{alias.variable: "1" for alias in ALIASES[name]}}
    [found] = [each for each in explain({}, environ) if each.name == name]
    assert found.value == own
    assert found.origin == f"environment {environment_name(name)}"


def test_the_page_about_workers_names_every_alias() -> None:
    page = (Path(__file__).parents[3] / "docs/workers.md").read_text()
    table = page.split("## Settings under other names")[1].split("\n## ")[0]
    rows = {
        tuple(cell.strip(" `") for cell in line.split("|")[1:-1]) for line in table.splitlines() if line[:3] == "| `"
    }
    assert rows == {
        (
            alias.variable,
            environment_name(name),
            "" if name in WITHOUT_FLAG else flag_name(name),
            "" if alias.scale is None else "milliseconds",
        )
        for name, aliases in ALIASES.items()
        for alias in aliases
    }


def test_postgres_variables_mean_a_server_of_the_callers_own() -> None:
    assert load_settings({}, {"PGHOST": "db.example"}).database_url == ""
    assert (
        load_settings({}, {"PGHOST": "db.example", "DATABASE_URL": "postgres://a/b"}).database_url == "postgres://a/b"
    )
    assert load_settings({}, {"PGPASSWORD": "alone says nothing"}).database_url is None


def test_a_file_named_by_the_environment_is_read(tmp_path: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text('queues = ["a", "b"]\nnotify = false\n')
    settings = load_settings({}, {"LEASEHOLD_CONFIG": str(file)})
    assert settings.queues == ("a", "b")
    assert settings.notify is False


def test_queues_that_no_job_can_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "leasehold.toml").write_text('queues = ["mail", "a,b"]')
    assert refused() == (
        "queues = mail,a,b is refused: each of them must be a name without a comma, not 'a,b' (queues from file leasehold.toml)"
    )
    with pytest.raises(SettingsError, match="without a space at an end, not ' a'"):
        Settings(queues=(" a",))


def test_a_named_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"cannot read the settings file .*none\.toml: No such file"):
        load_settings({}, {}, tmp_path / "none.toml")


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "leasehold.toml").write_text("slots: 3")
    assert "leasehold.toml is no valid TOML" in refused()


def test_unknown_names_are_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    assert refused(environ={"LEASEHOLD_SLOT": "3"}) == (
        "unknown setting LEASEHOLD_SLOT in the environment; did you mean LEASEHOLD_SLOTS?"
    )
    assert refused({"sloths": 3}) == "unknown setting 'sloths' among the flags; did you mean slots?"
    (tmp_path / "leasehold.toml").write_text("pol_seconds = 3")
    assert refused() == "unknown setting 'pol_seconds' in leasehold.toml; did you mean poll_seconds?"


def test_variables_of_the_tests_and_of_others_are_left_alone() -> None:
    load_settings({}, {"LEASEHOLD_TEST_POSTGRES": "embedded18", "LEASEHOLDER": "x", "PATH": "/bin"})


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        (
            {"LEASEHOLD_SLOTS": "0"},
            "slots = '0' (from environment LEASEHOLD_SLOTS) is refused: allowed is a whole number",
        ),
        (
            {"LEASEHOLD_STATEMENT_SECONDS": "0"},
            "statement_seconds = '0' (from environment LEASEHOLD_STATEMENT_SECONDS) is refused: allowed is a number above 0",
        ),
        ({"MAX_CONCURRENT_TASKS": "many"}, "slots = 'many' (from environment MAX_CONCURRENT_TASKS) is refused"),
        ({"POLL_INTERVAL_MS": "soon"}, "allowed is a number above 0 up to 3600"),
        ({"POLL_INTERVAL_MS": "-5"}, "poll_seconds = '-5'"),
        ({"LEASEHOLD_POLL_SECONDS": "nan"}, "poll_seconds = 'nan'"),
        ({"LEASEHOLD_POLL_SECONDS": "inf"}, "poll_seconds = 'inf'"),
        ({"MEMORY_BACKOFF_THRESHOLD": "85"}, "allowed is a number above 0 up to 1"),
        ({"LEASEHOLD_NOTIFY": "perhaps"}, "allowed is on or off"),
        ({"LEASEHOLD_LOG_LEVEL": "loud"}, "allowed is debug, error, info, warning"),
        ({"LEASEHOLD_APP": "shop"}, "allowed is text like module:attribute"),
        ({"LEASEHOLD_GATEWAY_PORT": "70000"}, "allowed is a whole number from 0 to 65535"),
    ],
)
def test_a_refused_value_is_told_with_its_source_and_what_is_allowed(environ: dict[str, str], message: str) -> None:
    assert message in refused(environ=environ)


def test_words_for_on_and_off_and_levels_in_capitals_are_understood() -> None:
    settings = load_settings({}, {"LEASEHOLD_NOTIFY": "Off", "LEASEHOLD_LOG_LEVEL": "DEBUG"})
    assert (settings.notify, settings.log_level) == (False, "debug")


def test_a_token_spelled_null_is_a_token() -> None:
    assert load_settings({}, {"LEASEHOLD_GATEWAY_TOKEN": "null"}).gateway_token == "null"


def test_a_file_must_use_the_right_types(tmp_path: Path) -> None:
    (tmp_path / "leasehold.toml").write_text('slots = "4"')
    assert "slots = '4' (from file leasehold.toml) is refused" in refused()
    (tmp_path / "leasehold.toml").write_text('lease_seconds = "5"')
    assert "lease_seconds = '5' (from file leasehold.toml) is refused: allowed is a number" in refused()
    (tmp_path / "leasehold.toml").write_text("lease_seconds = 0")
    assert "lease_seconds = 0 (from file leasehold.toml) is refused" in refused()


def test_a_lease_of_milliseconds_is_refused() -> None:
    assert refused(environ={"LEASEHOLD_LEASE_SECONDS": "0.005"}) == (
        "lease_seconds = 0.005 (from environment LEASEHOLD_LEASE_SECONDS) is refused: allowed is a number from 1 up to 86400"
    )


def test_renewal_follows_the_lease_unless_it_is_given() -> None:
    assert load_settings({}, {"LEASEHOLD_LEASE_SECONDS": "6"}).renew_seconds == 2


def test_renewing_must_happen_before_half_the_lease_is_over() -> None:
    message = refused({"lease_seconds": 5.0}, {"LEASEHOLD_RENEW_SECONDS": "3"})
    assert message == (
        "renew_seconds = 3 must be less than half of lease_seconds = 5 "
        "(lease_seconds from flag --lease-seconds, renew_seconds from environment LEASEHOLD_RENEW_SECONDS)"
    )
    with pytest.raises(SettingsError):
        Settings(lease_seconds=5)


def test_the_fewest_pods_are_no_more_than_the_most() -> None:
    assert refused(environ={"LEASEHOLD_K8S_MIN_REPLICAS": "30"}) == (
        "k8s_min_replicas = 30 must not be more than k8s_max_replicas = 20 "
        "(k8s_min_replicas from environment LEASEHOLD_K8S_MIN_REPLICAS)"
    )


@pytest.mark.parametrize("name", ["shop/../other", "Shop", "shop\n", "-shop", "a" * 254, "a?b"])
def test_a_name_that_kubernetes_would_not_take_is_refused(name: str) -> None:
    assert "allowed is text like leasehold-worker" in refused(environ={"K8S_WORKER_STATEFULSET": name})


def test_another_kind_of_database_is_refused_without_telling_the_password() -> None:
    message = refused(environ={"DATABASE_URL": "mysql://root:secret@host/db"})
    assert "must start with postgresql:// or postgres://" in message
    assert "secret" not in message


@pytest.mark.parametrize(
    "url",
    ["postgresql://ada:secret@[host/db", "postgresql://ada:secret@host:port/db", "postgresql://ada:sec/ret@host/db"],
)
def test_a_connection_string_that_cannot_be_read_is_refused_without_telling_the_password(url: str) -> None:
    message = refused(environ={"DATABASE_URL": url})
    assert message.startswith("database_url (from environment DATABASE_URL) ")
    assert "sec" not in message


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:///db",
        "postgres://ada@/db?host=/run/postgresql",
        "postgresql://ada:secret@one:5432,two:5433/db?target_session_attrs=primary",
        "postgresql://[::1]:5432/db",
        "postgresql://ada:p%40ss@host/db",
    ],
)
def test_the_forms_that_postgres_knows_are_taken(url: str) -> None:
    assert load_settings({}, {"DATABASE_URL": url}).database_url == url


def test_explaining_masks_secrets_and_names_origins() -> None:
    environ = {"DATABASE_URL": "postgresql://ada:secret@host/db", "LEASEHOLD_GATEWAY_TOKEN": "hush"}
    explained = {each.name: each for each in explain({"slots": 5}, environ)}
    assert list(explained) == list(Settings.__struct_fields__)
    assert explained["database_url"].value == "postgresql://ada:***@host/db"
    assert explained["gateway_token"].value == "***"
    assert explained["slots"].origin == "flag --slots"
    assert explained["database_url"].origin == "environment DATABASE_URL"
    assert explained["notify"].origin == "default"


def test_the_repr_of_settings_shows_no_secret() -> None:
    text = repr(Settings(database_url="postgresql://ada:secret@host/db", gateway_token="hush"))
    assert "secret" not in text
    assert "hush" not in text


def test_loading_changes_nothing_it_was_given() -> None:
    flags, environ = {"slots": 5}, {"LEASEHOLD_NOTIFY": "off"}
    load_settings(flags, environ)
    assert (flags, environ) == ({"slots": 5}, {"LEASEHOLD_NOTIFY": "off"})


def test_every_setting_is_described() -> None:
    assert [name for name in Settings.__struct_fields__ if not describe_setting(name)] == []


def test_settings_survive_being_copied_with_another_value() -> None:
    assert msgspec.structs.replace(Settings(), slots=9).slots == 9


DIRECT = {"LEASEHOLD_DATABASE_URL": "postgresql://pooled/a", "LEASEHOLD_DIRECT_DATABASE_URL": "postgresql://direct/a"}


def test_a_direct_connection_goes_with_the_database_of_its_own_source() -> None:
    assert load_settings({}, DIRECT).direct_database_url == "postgresql://direct/a"
    assert load_settings({"database_url": "postgresql://elsewhere/b"}, DIRECT).direct_database_url is None


def test_a_direct_connection_alone_is_refused() -> None:
    environ = {"LEASEHOLD_DIRECT_DATABASE_URL": "postgresql://direct/a"}
    assert refused(environ=environ) == "direct_database_url names the same database as database_url, which is not given"


def test_the_password_of_a_direct_connection_is_masked() -> None:
    settings = load_settings({}, {**DIRECT, "LEASEHOLD_DIRECT_DATABASE_URL": "postgresql://ada:secret@direct/a"})
    assert "secret" not in repr(settings)


def test_a_direct_connection_that_is_no_dsn_is_refused() -> None:
    assert "direct_database_url (from environment" in refused(
        environ={**DIRECT, "LEASEHOLD_DIRECT_DATABASE_URL": "mysql://direct/a"}
    )


@pytest.mark.parametrize(("text", "port"), [("8081", 8081), ("0", 0)])
def test_a_number_that_may_be_missing_is_read_from_text(text: str, port: int) -> None:
    assert load_settings({}, {"LEASEHOLD_PROBE_PORT": text}).probe_port == port
    assert load_settings({}, {"LEASEHOLD_PROBE_PORT": ""}).probe_port is None


@pytest.mark.parametrize("text", ["-1", "65536", "x", "8.5", "null"])
def test_a_number_that_may_be_missing_is_refused_when_it_is_none(text: str) -> None:
    with pytest.raises(SettingsError, match="allowed is a whole number from 0 to 65535"):
        load_settings({}, {"LEASEHOLD_PROBE_PORT": text})


def test_without_a_limit_it_drains_for_as_long_as_it_was_told() -> None:
    assert seconds_to_stop(Settings(drain_seconds=7)) == (7, FORCE_SECONDS)


@pytest.mark.parametrize("stop", [2.0, 5.0, 10.0, 30.0, 60.0])
@pytest.mark.parametrize("drain", [0.0, 1.0, 30.0])
def test_draining_and_handing_back_end_before_the_kill(stop: float, drain: float) -> None:
    draining, forcing = seconds_to_stop(Settings(stop_seconds=stop, drain_seconds=drain))
    assert draining + forcing < stop
    assert 0 <= draining <= drain
    assert 0 < forcing <= FORCE_SECONDS
