from __future__ import annotations

from itertools import pairwise

from faults.soak.scenes import FULL, lasting, plan


def test_the_full_soak_has_the_tasks_and_the_kills_of_the_original() -> None:
    tasks = sum(round(scene.seconds * scene.rate * scene.producers) + scene.held for scene in FULL)
    kills = sum(len(plan(scene, seed=13)) + bool(scene.held) for scene in FULL)
    assert (tasks, kills) == (37_804, 18)


def test_no_worker_is_killed_while_it_is_away() -> None:
    [chaos] = [scene for scene in FULL if scene.gaps]
    for seed in range(50):
        for kill, following in pairwise(plan(chaos, seed)):
            assert kill.at + kill.pause < following.at < chaos.seconds
            assert 0 <= kill.slot < chaos.workers


def test_the_same_seed_plans_the_same_kills() -> None:
    assert plan(FULL[1], 5) == plan(FULL[1], 5) != plan(FULL[1], 6)


def test_a_shorter_soak_has_the_same_rates_and_holds_as_many() -> None:
    steady, chaos, window = lasting(FULL, 60)
    assert (steady.seconds, chaos.seconds, window) == (60, 60, FULL[2])
    assert lasting(FULL, None) == list(FULL)
