"""One run of the command line: parse, prepare, run the command under trio, print its result, choose the exit code."""

# No annotations as text: the parser would evaluate them again and again.

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Annotated, cast

import msgspec
from cyclopts import App, CycloptsError, Parameter

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.exit_codes import ExitCode
from leasehold.cli.runtime.interruption import Interruption
from leasehold.cli.runtime.options import CommonOptions
from leasehold.cli.runtime.outcome import Finally, Outcome, View, render, view_of
from leasehold.cli.runtime.services import Services
from leasehold.cli.runtime.terminal import Terminal
from leasehold.cli.shell.application import build_application
from leasehold.cli.shell.command_table import TALKATIVE, choose_commands
from leasehold.cli.shell.complaints import complain, complain_about_interruption, complain_about_usage
from leasehold.observability.logs import install_logging
from leasehold.settings.sources import PREFIX, variables_of_services

log = logging.getLogger(__name__)

MOST_SHOWN = 500  # characters of a result that standard output did not take

Tokens = Annotated[str, Parameter(show=False, allow_leading_hyphen=True)]
Common = Annotated[CommonOptions, Parameter(name="*")]


def run(
    tokens: Sequence[str],
    terminal: Terminal | None = None,
    services: Services | None = None,
    interruption: Interruption | None = None,
) -> int:
    """Run one command and return its exit code. Never raises for an error that a user can cause.

    `interruption` hears the signals of this process; without one, nobody does.
    """
    terminal = terminal or Terminal()
    interruption = interruption or Interruption()
    launcher = Launcher(terminal, services or Services(), interruption)
    try:
        return launcher.run(tokens)
    except CycloptsError as error:
        return complain_about_usage(error, terminal)
    except BaseException as error:
        if isinstance(error, SystemExit | GeneratorExit):
            raise
        if interruption.is_interrupted and not launcher.is_debugging:
            return complain_about_interruption(terminal)
        return complain(error, terminal, has_traceback=launcher.is_debugging)


def understand(tokens: Sequence[str], terminal: Terminal) -> tuple[App, Sequence[str]]:
    """An application with the commands that these words may mean, and the words to give it."""
    application = build_application(terminal, choose_commands(tokens))
    if not is_unknown_command(application, tokens):
        return application, tokens
    application = build_application(terminal)  # the complaint may suggest any
    return application, [each for each in tokens if each not in application.help_flags]


def is_unknown_command(application: App, tokens: Sequence[str]) -> bool:
    """Whether the first word is no command. With --help the parser would let that pass and show the general help."""
    _, applications, unused = application.parse_commands(tokens)
    return bool(unused) and not unused[0].startswith("-") and applications[-1].default_command is None


class Launcher:
    """Stands between the parser and the command."""

    _application: App

    def __init__(self, terminal: Terminal, services: Services, interruption: Interruption) -> None:
        self._terminal = terminal
        self._services = services
        self._interruption = interruption
        self.is_debugging = False

    def run(self, tokens: Sequence[str]) -> int:
        """Find the command that these words mean, and run it. Raises what `launch` raises."""
        self._application, tokens = understand(tokens, self._terminal)
        self._application.meta.default(self.launch)
        code = self._application.meta(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        return int(code or 0)

    def launch(self, *tokens: Tokens, common: Common = CommonOptions()) -> int:  # noqa: B008
        """Parse the command's own arguments and run it."""
        command, bound, ignored = self._application.parse_args(tokens, exit_on_error=False, print_error=False)
        if "context" not in ignored:  # help and version
            command(*bound.args, **bound.kwargs)
            return ExitCode.DONE
        with self._interruption.heeded():
            with ExitStack() as stack:
                is_talkative = command.__name__ in TALKATIVE
                context = CommandContext(
                    self._terminal, common, self._services, stack, self._interruption, is_talkative=is_talkative
                )
                self._prepare(context, is_talkative=is_talkative)
                result = self._run_under_trio(partial(command, *bound.args, **bound.kwargs, context=context))
                if isinstance(result, Finally) and not self._interruption.is_interrupted:
                    result = result.run()
            return self._finish(result, view_of(command), common)

    def _run_under_trio(self, command: Callable[[], Awaitable[object]]) -> object:
        import trio  # noqa: PLC0415

        async def until_interrupted() -> object:
            token = trio.lowlevel.current_trio_token()
            with (
                trio.CancelScope() as scope,
                self._interruption.on_signal(lambda: token.run_sync_soon(scope.cancel)),
            ):
                return await command()
            return complain_about_interruption(self._terminal)

        return trio.run(until_interrupted)

    def _prepare(self, context: CommandContext, *, is_talkative: bool) -> None:
        settings = context.settings
        self.is_debugging = settings.log_level == "debug"
        chosen = any(each.name == "log_level" and each.origin != "default" for each in context.explained_settings())
        level = settings.log_level if chosen or is_talkative else "warning"
        install_logging(level, settings.log_format, stream=self._terminal.stderr, environ=self._terminal.environ)
        if injected := variables_of_services(self._terminal.environ, PREFIX):
            log.warning(
                "ignoring %s, which Kubernetes makes for Services; write `enableServiceLinks: false` into the pod, or they may "
                "hide settings of the same names",
                ", ".join(injected),
            )

    def _finish(self, result: object, view: View, common: CommonOptions) -> int:
        if isinstance(result, int):
            return result
        outcome = cast("Outcome[object]", result) if isinstance(result, Outcome) else Outcome(result, ExitCode.DONE)
        try:
            render(outcome.value, view, common.output, self._terminal)
        except BrokenPipeError:
            raise
        except OSError as error:
            shown = msgspec.json.encode(outcome.value).decode()[:MOST_SHOWN]
            self._terminal.say(
                f"error: the command is done, but standard output took nothing ({error.strerror}): {shown}"
            )
            return ExitCode.FAILED
        return outcome.exit_code
