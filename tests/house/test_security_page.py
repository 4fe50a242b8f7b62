from __future__ import annotations

from leasehold.access.roles import ROLE_NAMES
from leasehold.gateway.access.identities import Scope
from tools.security_page import TARGET, render, roles, scopes


def test_the_tables_are_what_routes_and_roles_say() -> None:
    page = TARGET.read_text()
    assert page == render(page), "run python tools/security_page.py"


def test_every_scope_and_every_role_has_a_row() -> None:
    assert len(list(scopes())) == 2 + len(Scope) + 1
    assert len(list(roles())) == 2 + len(ROLE_NAMES)
