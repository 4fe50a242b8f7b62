from __future__ import annotations

from leasehold.checks.grants import check_grants, judge_grants
from leasehold.database import Database
from leasehold.database.migrations import GrantsState


async def test_without_roles_all_is_well(database: Database) -> None:
    check = await check_grants(database)
    assert (check.verdict, "no roles in force" in check.detail) == ("ok", True)


def test_roles_that_may_what_they_should_are_named_by_their_prefix() -> None:
    check = judge_grants(GrantsState(prefix="shop_"))
    assert (check.verdict, check.detail) == ("ok", "the roles shop_… may call what they should and nothing else")


def test_what_differs_is_a_problem_and_the_first_of_it_is_named() -> None:
    differing = tuple(f"everybody can call f{number}" for number in range(7))
    check = judge_grants(GrantsState(prefix="shop_", differing=differing))
    assert check.verdict == "problem"
    assert check.detail.endswith("everybody can call f4 and 2 more")
    assert check.advice == "run `leasehold grants --apply`"
