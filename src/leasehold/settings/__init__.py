"""Every setting of leasehold: one frozen record, read once at the start of a process.

The command line, workers, the gateway and the client read it. Start in `settings.py`: it has the table of all settings.
"""

from leasehold.settings.settings import ExplainedSetting, Settings, describe_setting, explain, load_settings, show_value

__all__ = ["ExplainedSetting", "Settings", "describe_setting", "explain", "load_settings", "show_value"]
