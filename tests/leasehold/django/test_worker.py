from __future__ import annotations

import pytest

pytest.importorskip("django")

from leasehold.django.worker import address


@pytest.mark.parametrize(
    ("database", "expected"),
    [
        ({"NAME": "shop"}, "postgresql:///shop"),
        ({"NAME": "shop", "USER": "ann", "HOST": "db"}, "postgresql://ann@db/shop"),
        (
            {"NAME": "a b", "USER": "a@b", "PASSWORD": "p:/?#", "HOST": "db", "PORT": 5433},
            "postgresql://a%40b:p%3A%2F%3F%23@db:5433/a%20b",
        ),
        ({"NAME": "shop", "HOST": "::1", "PORT": ""}, "postgresql://[::1]/shop"),
        (
            {"NAME": "shop", "USER": "ann", "HOST": "/run/pg", "PORT": "5433"},
            "postgresql://ann@/shop?host=%2Frun%2Fpg&port=5433",
        ),
        (
            {"NAME": "shop", "HOST": "db", "OPTIONS": {"sslmode": "require", "pool": True}},
            "postgresql://db/shop?sslmode=require",
        ),
        ({"NAME": None, "USER": "", "HOST": None}, "postgresql:///"),
    ],
)
def test_settings_of_django_become_a_url(database: dict[str, object], expected: str) -> None:
    assert address(database) == expected
