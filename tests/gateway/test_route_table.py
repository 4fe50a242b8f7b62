from __future__ import annotations

import re

import msgspec

from leasehold.gateway.http import problems
from leasehold.gateway.http.problems import ProblemType
from leasehold.gateway.route_table import ROUTES


def test_no_address_is_listed_twice() -> None:
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


def test_every_name_in_a_path_is_a_parameter() -> None:
    for route in ROUTES:
        assert set(re.findall(r"{(\w+)}", route.path)) <= set(route.parameters.__struct_fields__)


def test_every_route_says_what_it_takes_gives_and_refuses_in_a_form_that_documents_can_be_made_of() -> None:
    bodies = [body for route in ROUTES for body in (route.request, route.response) if body is not None]
    schemas, components = msgspec.json.schema_components([*bodies, problems.Problem])
    assert len(schemas) == len(bodies) + 1
    assert {"JobBody", "EnqueuedBody", "JobRecord", "Problem"} <= set(components)
    for route in ROUTES:
        assert route.summary
        assert route.tags
        assert problems.INTERNAL in route.all_errors


def test_only_the_probes_the_sign_in_and_the_document_are_open_to_everybody() -> None:
    open_paths = {route.path for route in ROUTES if route.scope is None and "documents" not in route.tags}
    assert open_paths == {"/livez", "/readyz", "/startupz", "/api/session"}


def test_each_code_belongs_to_one_problem() -> None:
    types = [each for each in vars(problems).values() if isinstance(each, ProblemType)]
    assert len({each.code for each in types}) == len(types)
