from __future__ import annotations

import pickle

import pytest

from leasehold.errors import BadInput
from leasehold.jobs.job_host import NO_CONTEXT, Context, MissingContext


class Session:
    pass


class OtherSession(Session):
    pass


def test_a_value_is_found_under_the_type_it_was_put_under() -> None:
    context = Context()
    session = OtherSession()
    context[Session] = session
    assert context[Session] is session
    assert context.get(Session) is session
    assert Session in context
    assert OtherSession not in context


def test_a_missing_value_is_named_together_with_what_there_is() -> None:
    context = Context()
    context[OtherSession] = OtherSession()
    with pytest.raises(MissingContext, match="nobody has put a Session there; there is: OtherSession"):
        context[Session]
    with pytest.raises(MissingContext, match="there is: nothing"):
        NO_CONTEXT[Session]
    assert context.get(Session) is None


def test_a_value_of_another_type_is_refused() -> None:
    with pytest.raises(BadInput, match=r"context\[Session\] takes a Session, not 7"):
        Context()[Session] = 7  # type: ignore[assignment]


def test_the_context_that_all_share_takes_nothing() -> None:
    with pytest.raises(BadInput, match="only a middleware"):
        NO_CONTEXT[Session] = Session()
    assert Session not in NO_CONTEXT


def test_values_do_not_travel_to_other_processes() -> None:
    context = Context()
    context[Session] = Session()
    assert pickle.loads(pickle.dumps(context)) is NO_CONTEXT
