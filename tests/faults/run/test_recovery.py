from __future__ import annotations

from contextlib import closing

from faults.bugs.scene import LEASE, START, Scene
from faults.bugs.scenes import zombie
from faults.history.collecting import install_watch
from faults.history.history import History
from faults.history.records import Fault
from faults.run.command import with_results
from faults.run.recovery import recoveries, table


def killed(dsn: str) -> History:
    """A worker dies at once; its job goes to another one after the lease."""
    install_watch(dsn)
    with closing(Scene(dsn)) as scene:
        _, new, _, held = zombie(scene)
        scene.later(1)
        new.complete(held)
        scene.calls.append(Fault("kill worker", "F1", START.timestamp(), START.timestamp(), ("old",)))
        return scene.history()


def test_it_tells_how_long_the_jobs_of_a_process_and_how_long_all_work_stood_still(fresh_database_url: str) -> None:
    [found] = recoveries(killed(fresh_database_url))["kill worker"]
    assert found.own == LEASE + 1
    assert found.anybody == LEASE + 1


def test_the_table_has_the_run_and_each_kind(fresh_database_url: str) -> None:
    tables = table([killed(fresh_database_url)])
    assert "| 2999-01-01 | 0 | 1 | 1 | 1 |" in tables
    assert "| kill worker: SIGKILL, started again | F1 | 1 | 11.0 s, 11.0 s | 11.0 s, 11.0 s |" in tables


def test_results_take_the_place_of_earlier_ones() -> None:
    assert with_results("a\n## Results\nold\n\n## Then\nb\n", "new") == "a\n## Results\nnew\n\n## Then\nb\n"
