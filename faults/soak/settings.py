"""Settings of the Django project that is soaked."""

from __future__ import annotations

import os

import psycopg.conninfo

PLACE = psycopg.conninfo.conninfo_to_dict(os.environ["SOAK_DSN"])

SECRET_KEY = "of no use: nobody comes in over HTTP"
USE_TZ = True
INSTALLED_APPS = ["leasehold.django"]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": PLACE.get("dbname"),
        "USER": PLACE.get("user"),
        "PASSWORD": PLACE.get("password") or "",
        "HOST": PLACE.get("host"),
        "PORT": PLACE.get("port") or "",
        "CONN_MAX_AGE": None,
    }
}
TASKS = {
    "default": {
        "BACKEND": "leasehold.django.Backend",
        "OPTIONS": {
            "max_attempts": 3,
            "retry": {"initial": 2, "cap": 10},
            "modules": ["faults.soak.tasks"],
            "settings": {"lease_seconds": 15, "cpu_backoff": 1, "memory_backoff": 1},
        },
    }
}
LOGGING_CONFIG = None
