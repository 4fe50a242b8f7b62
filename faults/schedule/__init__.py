"""Which faults come when: pure, from a seed."""
