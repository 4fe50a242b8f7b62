"""Who may call: tokens, scopes, and the audit log. Routes come in. Start in `guard.py`."""
