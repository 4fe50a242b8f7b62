"""`client.schedules`, made of its parts."""

from __future__ import annotations

from leasehold.client.nouns.schedules.defining import ScheduleDefining
from leasehold.client.nouns.schedules.firing import ScheduleFiring
from leasehold.client.nouns.schedules.previews import SchedulePreviews


class Schedules(ScheduleDefining, ScheduleFiring, SchedulePreviews):
    """`client.schedules`. A call that takes a name also takes the id as text, where no schedule has that name."""
