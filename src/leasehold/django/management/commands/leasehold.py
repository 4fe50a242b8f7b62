"""`manage.py leasehold …`: our command line on the database and with the tasks of the project."""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping, Sequence
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from leasehold.cli import main
from leasehold.django.backend import Backend
from leasehold.django.project import backend_to_serve, our_backends
from leasehold.django.worker import BACKEND_VARIABLE, address
from leasehold.settings.sources import environment_name

APP = "leasehold.django.worker:app"


class Command(BaseCommand):
    """Runs in this process, and from a shell ends it with the exit code of our command line."""

    help = "Run leasehold on the database of the project: run worker, up, migrate, doctor, jobs, top …"
    requires_system_checks = ()

    def run_from_argv(self, argv: list[str]) -> None:
        """`manage.py leasehold [--backend ALIAS] WORDS…`; all words are for our command line."""
        alias, arguments = split_backend(argv[2:])
        set_up(os.environ, backend_to_serve(alias))
        sys.argv = [f"{os.path.basename(argv[0])} {argv[1]}", *arguments]
        main()

    def add_arguments(self, parser: CommandParser) -> None:
        """For `call_command("leasehold", "migrate")`."""
        parser.add_argument("words", nargs="*")

    def handle(self, *args: Any, **options: Any) -> None:
        """As `run_from_argv`, and the process goes on as it was. Raises CommandError for an exit code other than 0."""
        words, argv, given = [*args, *options["words"]], sys.argv, set(os.environ)
        try:
            self.run_from_argv(["manage.py", "leasehold", *words])
        except SystemExit as end:
            if end.code:
                raise CommandError(f"leasehold {' '.join(words)} ended with exit code {end.code}") from end
        finally:
            sys.argv = argv
            for name in os.environ.keys() - given:  # `set_up` changes none that is there
                del os.environ[name]


def split_backend(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """The backend that the first words name, and the others."""
    if arguments[:1] == ["--backend"] and len(arguments) > 1:
        return arguments[1], [*arguments[2:]]
    if arguments and arguments[0].startswith("--backend="):
        return arguments[0].partition("=")[2], [*arguments[1:]]
    return None, [*arguments]


def set_up(environ: MutableMapping[str, str], backend: Backend) -> None:
    """Tell our command line, and the processes that it starts, what the settings of Django say. What is there already stays."""
    given = {
        "database_url": address(settings.DATABASES[backend.chosen.database]),
        "app": APP,
        "queues": queues_of(backend),
        **backend.chosen.settings,
    }
    for name, value in given.items():
        if value not in (None, ""):
            environ.setdefault(environment_name(name), str(value))
    environ.setdefault(BACKEND_VARIABLE, backend.alias)


def queues_of(backend: Backend) -> str:
    """QUEUES of all backends of this database, with commas between them; empty, which means all, where one of them takes any."""
    found = [each.queues for each in our_backends() if each.chosen.database == backend.chosen.database]
    return "" if not all(found) else ",".join(sorted(set[str]().union(*found)))
