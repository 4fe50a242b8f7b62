"""The running system, one actor per file."""
