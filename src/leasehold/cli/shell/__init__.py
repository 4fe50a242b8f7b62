"""One run of the command line, whatever the command: parse, prepare, run, report. Start in `launcher.py`."""
