from __future__ import annotations

import pytest

from leasehold.errors import SettingsError
from leasehold.settings import explain, load_settings
from leasehold.settings.sources import PREFIX, ends_others, variables_of_services

SERVICES = {
    "LEASEHOLD_GATEWAY_SERVICE_HOST": "10.0.0.1",
    "LEASEHOLD_GATEWAY_SERVICE_PORT": "80",
    "LEASEHOLD_GATEWAY_SERVICE_PORT_HTTP": "80",
    "LEASEHOLD_GATEWAY_PORT": "tcp://10.0.0.1:80",
    "LEASEHOLD_GATEWAY_PORT_80_TCP": "tcp://10.0.0.1:80",
    "LEASEHOLD_GATEWAY_PORT_80_TCP_PROTO": "tcp",
    "LEASEHOLD_GATEWAY_PORT_80_TCP_PORT": "80",
    "LEASEHOLD_GATEWAY_PORT_80_TCP_ADDR": "10.0.0.1",
    "LEASEHOLD_PGBOUNCER_PORT": "tcp://10.0.0.2:6432",
    "LEASEHOLD_SERVICE_HOST": "10.0.0.3",
    "LEASEHOLD_PORT": "udp://[fd00::1]:53",
}


def test_what_kubernetes_makes_for_services_is_no_setting() -> None:
    assert variables_of_services(SERVICES, PREFIX) == tuple(sorted(SERVICES))
    assert load_settings({}, {**SERVICES, "LEASEHOLD_SLOTS": "5"}).gateway_port == 8420


@pytest.mark.parametrize(
    "environ",
    [
        {"LEASEHOLD_GATEWAY_PORT": "tcp:80"},
        {"LEASEHOLD_GATEWAY_PORTS": "tcp://10.0.0.1:80"},
        {"LEASEHOLD_SERVICE_HOSTS": "x"},
        {"LEASEHOLD_GATEWAY_PORT_80": "80"},
    ],
)
def test_what_only_looks_like_it_is_refused(environ: dict[str, str]) -> None:
    assert variables_of_services(environ, PREFIX) == ()
    with pytest.raises(SettingsError):
        load_settings({}, environ)


@pytest.mark.parametrize(
    ("environ", "seconds", "others_end"),
    [
        ({"HONCHO_PROCESS_NAME": "worker.1"}, 5, True),
        ({"PS": "worker.2"}, 5, True),
        ({"DYNO": "worker.1"}, 30, False),
        ({"DYNO": "worker.1", "LEASEHOLD_STOP_SECONDS": "12"}, 12, False),
        ({"PS": "/bin/ps"}, None, False),
        ({}, None, False),
    ],
)
def test_a_launcher_is_known_by_its_variable(environ: dict[str, str], seconds: float | None, others_end: bool) -> None:
    assert load_settings({}, environ).stop_seconds == seconds
    assert ends_others(environ) is others_end


def test_the_origin_of_what_a_launcher_tells_is_shown() -> None:
    [told] = [each for each in explain({}, {"DYNO": "web.1", "PORT": "4711"}) if each.name == "stop_seconds"]
    assert (told.value, told.origin) == ("30", "environment DYNO")
    assert load_settings({}, {"PORT": "4711"}).gateway_port == 4711
    assert load_settings({}, {"PORT": "4711", "LEASEHOLD_GATEWAY_PORT": "1"}).gateway_port == 1


def test_a_flag_that_names_the_data_folder_means_that_database_and_not_one_that_the_environment_names() -> None:
    environ = {
        "LEASEHOLD_DATABASE_URL": "postgresql://live/shop",
        "LEASEHOLD_DIRECT_DATABASE_URL": "postgresql://live/x",
    }
    for variables in (environ, {"DATABASE_URL": "postgresql://live/shop"}, {"PGHOST": "live"}):
        settings = load_settings({"data_folder": "here"}, variables)
        assert (settings.data_folder, settings.database_url, settings.direct_database_url) == ("here", None, None)
        assert load_settings({"data_folder": None}, variables).database_url is not None
    both = {"data_folder": "here", "database_url": "postgresql://test/shop"}
    with pytest.raises(SettingsError, match="--data-folder and --database-url name two databases: give one of them"):
        load_settings(both, environ)
