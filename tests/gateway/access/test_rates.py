from __future__ import annotations

import pytest

from leasehold.gateway.access import rates
from leasehold.gateway.access.rates import Buckets, Failures, network_of, rate_headers


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_gives_its_burst_at_once_and_its_rate_afterwards() -> None:
    clock = Clock()
    buckets = Buckets(clock)
    assert [buckets.take("a", 2.0, 3).allowed for _ in range(4)] == [True, True, True, False]
    assert buckets.take("a", 2.0, 3).next_in == pytest.approx(0.5)
    clock.now += 1.0
    assert [buckets.take("a", 2.0, 3).allowed for _ in range(3)] == [True, True, False]
    clock.now += 3600
    assert buckets.take("a", 2.0, 3).left == 2


def test_each_key_has_a_bucket_of_its_own() -> None:
    buckets = Buckets(Clock())
    assert not [buckets.take("a", 1.0, 1) for _ in range(2)][1].allowed
    assert buckets.take("b", 1.0, 1).allowed


def test_a_clock_that_goes_back_fills_nothing() -> None:
    clock = Clock()
    buckets = Buckets(clock)
    buckets.take("a", 1.0, 1)
    clock.now -= 100
    assert not buckets.take("a", 1.0, 1).allowed


def test_there_are_never_more_than_so_many_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "MOST_BUCKETS", 3)
    buckets = Buckets(Clock())
    for key in "abcd":
        buckets.take(key, 1.0, 1)
    assert buckets.take("a", 1.0, 1).allowed
    assert not buckets.take("d", 1.0, 1).allowed


def test_ten_wrong_tokens_at_once_and_ten_a_minute() -> None:
    clock = Clock()
    failures = Failures(clock)
    assert [failures.add("192.0.2.1") for _ in range(10)] == [False] * 9 + [True]
    assert failures.wait_for("192.0.2.1") == pytest.approx(6.0)
    assert failures.wait_for("192.0.2.2") == 0
    clock.now += 6.1
    assert failures.wait_for("192.0.2.1") == 0


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


def test_a_refusal_says_when_to_come_again_in_whole_seconds() -> None:
    buckets = Buckets(Clock())
    allowed, refused = (rate_headers(0.5, 1, buckets.take("a", 0.5, 1)) for _ in range(2))
    assert allowed == {"RateLimit-Policy": '"token";q=1;w=2', "RateLimit": '"token";r=0;t=2'}
    assert refused["Retry-After"] == "2"
