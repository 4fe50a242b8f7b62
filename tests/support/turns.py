"""A sweeper that takes nothing back."""

from __future__ import annotations

from datetime import timedelta

from leasehold.actors.leases.sweeper import LeaseSweeper


class Turns(LeaseSweeper):
    """Notes whether it was its turn."""

    def __init__(self) -> None:
        self.every = timedelta()
        self.turns: list[bool] = []

    def turn(self, is_ours: bool) -> None:
        self.turns.append(is_ours)
