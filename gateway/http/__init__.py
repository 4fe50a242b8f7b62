"""Reading requests and writing answers, whatever they are about: bodies, parameters, problems, pages. Start in `problems.py`."""
