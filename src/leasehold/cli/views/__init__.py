"""How results look: text for people, JSON for programs. Start in `rendering.py`."""
