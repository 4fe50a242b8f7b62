"""`python -m faults.soak.producing RATE SECONDS SEED`: enqueue the mix at a steady rate. Prints how many of each there were."""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from typing import Any

MIX = {"quick": 70, "medium": 15, "slow": 5, "flaky_once": 5, "doomed": 5}


def produce(rate: float, seconds: float, seed: int) -> Counter[str]:
    """Enqueue `rate × seconds` tasks, each at its time, or late where the database is slow."""
    from faults.soak import tasks  # noqa: PLC0415  needs Django

    rng = random.Random(seed)
    made = Counter[str]()
    start = time.monotonic()
    for number in range(round(rate * seconds)):
        time.sleep(max(0.0, start + number / rate - time.monotonic()))
        [name] = rng.choices([*MIX], weights=[*MIX.values()])
        task: Any = getattr(tasks, name)
        task.enqueue(**({"seconds": round(rng.uniform(0.01, 0.05), 3)} if name == "quick" else {}))
        made[name] += 1
    return made


if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps(produce(float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))))
