"""Runs the blocks of one page on one database."""

from __future__ import annotations

import ast
import builtins
import dis
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import psycopg

import leasehold
from leasehold import Kind, open_client
from leasehold.concurrency.flavours import in_thread
from tests.house.pages.reading import Block, awaits, blocks_of, statements_of, waits
from tests.support.flavours import in_flavour

PLACE = "postgresql://…"
"""What pages write where a reader has to write the address of a database."""


class Play:
    """A page as a module, and what it runs on.

    Args:
        page: its path. dsn: an empty migrated database, which is also that of the settings.
    """

    def __init__(self, page: Path, dsn: str) -> None:
        self.page = page
        self.dsn = dsn
        self.stage = stage_of(page)
        self.module = ModuleType(f"page_{name_of(page)}")
        self.names = self.module.__dict__
        self._stack = AsyncExitStack()
        self._is_open = False

    def run(self) -> None:
        """Run it all, and what its stage says about the end."""
        sys.modules[self.module.__name__] = self.module
        try:
            in_flavour(getattr(self.stage, "FLAVOUR", "trio"), self._run)
        finally:
            del sys.modules[self.module.__name__]

    async def _run(self) -> None:
        self.names["dsn"] = self.dsn
        self.names.update({name: value for name, value in vars(self.stage).items() if not name.startswith("_")})
        self._run_sql(getattr(self.stage, "TABLES", ""))
        async with self._stack:
            if getattr(self.stage, "OPENED", False):
                await self._open()
            for block in blocks_of(self.page):
                await self._run_block(block)
            _refuse(self.page, missing_names(self.names))
            if after := getattr(self.stage, "after", None):
                await self._open()
                await after(self.module, self._client)

    async def _run_block(self, block: Block) -> None:
        match block.language:
            case "python" if block.reason:
                code = _compile(self.page, statements_of(block))
                _refuse(self.page, _undefined(code, self.names))
            case "python":
                for statement in statements_of(block):
                    await self._run_statement(statement)
            case "sql" if not block.reason:
                await in_thread(self._run_sql, block.text)
            case _:
                pass

    async def _run_statement(self, statement: ast.stmt) -> None:
        if awaits(statement) or waits(statement):
            await self._open()
        code = _compile(self.page, [_Addressed(self.dsn).visit(statement)])
        if awaits(statement):
            await eval(code, self.names)
        else:
            await in_thread(eval, code, self.names)  # it may wait for a worker of this loop

    async def _open(self) -> None:
        """A client, what the stage opens, and a worker where it wants one: at the first line that awaits."""
        if self._is_open:
            return
        self._is_open = True
        app = self.names.get("app")
        client = await self._stack.enter_async_context(open_client(app=app))
        self._client = client
        self.names.setdefault("client", client)
        if opened := getattr(self.stage, "opened", None):
            self.names.update(await self._stack.enter_async_context(asynccontextmanager(opened)(self.dsn)))
        if getattr(self.stage, "WORKER", False):
            assert app is not None, "a page with a worker has an app"
            await self._stack.enter_async_context(leasehold.worker(app))

    def _run_sql(self, text: str) -> None:
        with psycopg.connect(self.dsn) as connection:
            connection.execute(text.encode())


class _Addressed(ast.NodeTransformer):
    """Writes the address of the database where a reader would."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.copy_location(ast.Constant(self._dsn), node) if node.value == PLACE else node


def _refuse(page: Path, missing: Iterator[str]) -> None:
    if names := list(missing):
        raise NameError(f"{page.name} takes these from nowhere: {names}")


def _compile(page: Path, statements: list[ast.stmt]) -> CodeType:
    module = ast.Module(statements, [])
    return compile(module, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def missing_names(names: dict[str, Any]) -> Iterator[str]:
    """The global names that functions of the page would not find when they are called."""
    for value in list(names.values()):
        function = value.function if isinstance(value, Kind) else value
        if isfunction(function) and function.__module__ == names["__name__"]:
            yield from _undefined(function.__code__, names)


def _undefined(code: CodeType, names: dict[str, Any]) -> Iterator[str]:
    stored = {each.argval for each in dis.get_instructions(code) if each.opname == "STORE_NAME"}
    for each in dis.get_instructions(code):
        if each.opname in {"LOAD_GLOBAL", "LOAD_NAME"} and not (
            each.argval in names or each.argval in stored or hasattr(builtins, each.argval)
        ):
            yield f"{code.co_name}: {each.argval}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _undefined(constant, {**names, **dict.fromkeys(stored)})


def name_of(page: Path) -> str:
    """The page's name as that of a module."""
    return page.stem.lower().replace("-", "_")


def stage_of(page: Path) -> ModuleType:
    """What a page takes from elsewhere: a module of `stages`, or nothing."""
    if (Path(__file__).parent / "stages" / f"{name_of(page)}.py").is_file():
        return import_module(f"tests.house.pages.stages.{name_of(page)}")
    return ModuleType("nothing")
