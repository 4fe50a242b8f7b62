"""Who may call: tokens, scopes, rates, and the audit log. Routes come in. Start in `guard.py`."""
