"""Settings of a Django project that uses the database of a test."""

from __future__ import annotations

import os
from typing import Any

import psycopg.conninfo

PLACE = psycopg.conninfo.conninfo_to_dict(os.environ["SHOP_DSN"])

SECRET_KEY = "of a test"
USE_TZ = os.environ.get("SHOP_USE_TZ", "1") == "1"
TIME_ZONE = "America/New_York"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "tests.leasehold.django.project.urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.admin",
    "leasehold.django",
    "tests.leasehold.django.project.shop",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": PLACE.get("dbname"),
        "USER": PLACE.get("user"),
        "PASSWORD": PLACE.get("password") or "",
        "HOST": PLACE.get("host"),
        "PORT": PLACE.get("port") or "",
    }
}
TASKS: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "leasehold.django.Backend",
        "QUEUES": ["default", "slow"],
        "OPTIONS": {
            "retry": {"initial": 0},
            "dashboard": "https://jobs.example/",
            "app": "tests.leasehold.django.project.kinds:app",
            "settings": {"slots": 2, "poll_seconds": 0.5, "cpu_backoff": 1, "memory_backoff": 1},
        },
    },
    "other": {"BACKEND": "leasehold.django.Backend", "QUEUES": [], "OPTIONS": {"max_attempts": 7}},
}
