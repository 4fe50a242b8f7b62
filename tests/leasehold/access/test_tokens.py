from __future__ import annotations

import re
import string
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leasehold.access.tokens import LENGTH, SHOWN, hash_token, is_token, make_token, prefix_of

SCANNERS_PATTERN = re.compile(r"lh_[0-9A-Za-z]{49}")


def test_a_token_looks_like_one_and_no_two_are_the_same() -> None:
    made = {make_token() for _ in range(100)}
    assert len(made) == 100
    assert all(SCANNERS_PATTERN.fullmatch(each) and len(each) == LENGTH and is_token(each) for each in made)


def test_its_last_six_characters_are_a_checksum_that_anybody_can_compute() -> None:
    token = make_token()
    number = 0
    for each in token[-6:]:
        number = number * 62 + (string.digits + string.ascii_uppercase + string.ascii_lowercase).index(each)
    assert number == zlib.crc32(token[:-6].encode())


@given(place=st.integers(0, LENGTH - 1), character=st.characters())
def test_one_changed_character_is_noticed(place: int, character: str) -> None:
    token = make_token()
    changed = token[:place] + character + token[place + 1 :]
    assert is_token(changed) == (changed == token)


@pytest.mark.parametrize("text", ["", "lh_", "Bearer x", "x" * LENGTH, "lh_" + "é" * 49])
def test_anything_else_is_none(text: str) -> None:
    assert not is_token(text)


def test_what_is_kept_is_a_hash_and_what_is_shown_tells_little() -> None:
    token = make_token()
    assert len(hash_token(token)) == 32
    assert prefix_of(token) == token[:SHOWN]
    assert hash_token(token) != hash_token(make_token())
