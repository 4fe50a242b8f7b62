"""Progress and log lines of running jobs: kept in a buffer, written twice a second. Start in `buffer.py`."""
