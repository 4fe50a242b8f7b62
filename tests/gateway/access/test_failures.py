from __future__ import annotations

import pytest

from leasehold.gateway.access import failures
from leasehold.gateway.access.failures import Failures, network_of


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_each_address_has_a_count_of_its_own_and_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "MOST_ADDRESSES", 3)
    counted = Failures(Clock())
    for address in ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]:
        for _ in range(10):
            counted.add(address)
    assert counted.wait_for("192.0.2.1") == 0
    assert counted.wait_for("192.0.2.4") > 0


def test_a_clock_that_goes_back_forgives_nothing() -> None:
    clock = Clock()
    counted = Failures(clock)
    for _ in range(10):
        counted.add("192.0.2.1")
    clock.now -= 100
    assert counted.wait_for("192.0.2.1") > 0


def test_ten_wrong_tokens_at_once_and_ten_a_minute() -> None:
    clock = Clock()
    counted = Failures(clock)
    assert [counted.add("192.0.2.1") for _ in range(10)] == [False] * 9 + [True]
    assert counted.wait_for("192.0.2.1") == pytest.approx(6.0)
    assert counted.wait_for("192.0.2.2") == 0
    clock.now += 6.1
    assert counted.wait_for("192.0.2.1") == 0


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::/64"),
        (None, ""),
        ("no address", "no address"),
    ],
)
def test_one_subscriber_of_ipv6_counts_as_one(address: str | None, network: str) -> None:
    assert network_of(address) == network
