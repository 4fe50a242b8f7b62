"""LISTEN connection, typed channels, doorbell and wake-ups: hints that make things faster, never needed."""
