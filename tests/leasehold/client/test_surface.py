"""What is on the client and what is on its nouns."""

from __future__ import annotations

import inspect

from leasehold import Client
from leasehold.database import Database
from tools.client_reference import methods, nouns

METHODS = [
    (f"{noun}.{name}", method) for noun, part in {"client": Client, **nouns()}.items() for name, method in methods(part)
]


def test_the_client_itself_has_only_what_everybody_uses() -> None:
    assert len(methods(Client)) <= 13
    assert len(nouns()) <= 13
    public = {name for name in dir(Client) if not name.startswith("_")}
    assert public == {name for name, _ in methods(Client)} | nouns().keys()


def test_the_methods_of_a_noun_do_not_repeat_it() -> None:
    for noun in nouns():
        assert [name for name, _ in methods(nouns()[noun]) if noun.removesuffix("s") in name] == []


def test_every_method_says_what_it_does() -> None:
    assert [name for name, method in METHODS if not (method.__doc__ or "").strip()] == []


def test_every_error_is_told_under_its_own_heading() -> None:
    """`Raises:` and a line for each, so that nobody searches a sentence for them."""
    inline = [name for name, method in METHODS if "Raises" in (method.__doc__ or "").replace("Raises:\n", "")]
    assert inline == []


def test_nothing_but_methods_is_public_on_a_noun() -> None:
    for part in nouns().values():
        public = {name for name in dir(part) if not name.startswith("_")}
        assert public == {name for name, _ in methods(part)}
        assert all(inspect.isfunction(getattr(part, name)) for name in public)


async def test_an_enqueue_makes_no_noun_and_each_is_made_once(database: Database) -> None:
    client = Client(database)
    await client.enqueue("echo")
    assert not nouns().keys() & vars(client).keys()
    assert client.jobs is client.jobs
