"""docs/dead-letters.md takes a client."""
