from __future__ import annotations

import pytest

from leasehold.egress.identity import accept_language, fitting_zone
from leasehold.errors import BadInput


def test_the_languages_follow_from_the_locale() -> None:
    assert accept_language("de-AT") == "de-AT,de;q=0.9,en;q=0.8"
    assert accept_language("en-GB") == "en-GB,en;q=0.9"


def test_a_zone_of_the_country_fits() -> None:
    assert fitting_zone("en-US", "America/Phoenix") == "America/Phoenix"
    assert fitting_zone("de-DE", None) == "Europe/Berlin"


@pytest.mark.parametrize(
    ("locale", "zone", "told"),
    [
        ("de-DE", "Europe/Paris", "Europe/Paris does not fit locale de-DE; DE has Europe/Berlin"),
        ("de", None, "locale must be a language and a country"),
        ("de-XX", None, "there is no country XX"),
    ],
)
def test_what_does_not_fit_is_refused(locale: str, zone: str | None, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        fitting_zone(locale, zone)
