from __future__ import annotations

import pytest

from examples.backstage import Backstage, show
from leasehold import App


@pytest.fixture(autouse=True)
def _on_the_database_of_the_test(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEASEHOLD_DATABASE_URL", database_url)


def test_an_example_whose_checks_pass_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    async def perform(stage: Backstage) -> None:
        stage.check("sum", 1 + 1, 2)

    with pytest.raises(SystemExit) as end:
        show(App(), "nobody:app", perform)
    assert not end.value.code
    assert capsys.readouterr().out.endswith("  ✓ sum: 2\npassed\n")


def test_an_example_with_a_broken_promise_exits_with_1_and_says_which(capsys: pytest.CaptureFixture[str]) -> None:
    async def perform(stage: Backstage) -> None:
        stage.check("sum", 1 + 1, 3)
        stage.check("product", 1 * 1, 1)

    with pytest.raises(SystemExit) as end:
        show(App(), "nobody:app", perform)
    assert end.value.code == 1
    assert "  ✗ sum: 2, expected 3\n  ✓ product: 1\nFAILED\n" in capsys.readouterr().out
