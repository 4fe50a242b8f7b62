"""From the words typed to the exit code: find the command, parse its flags, run it, print its result. Start in `launcher.py`."""
