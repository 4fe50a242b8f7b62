"""What every command uses: flags, settings and database (`context.py`), its result and view (`outcome.py`), the terminal."""
