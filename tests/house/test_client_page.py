from __future__ import annotations

from leasehold import Client
from tools.client_reference import TARGET, call, promise, render


def test_the_page_is_what_the_docstrings_say() -> None:
    assert TARGET.read_text() == render(), "run python tools/client_reference.py"


def test_a_line_has_the_first_sentence_and_the_first_arguments() -> None:
    assert promise("Do it, at once. Then rest.\n\n    Raises:\n        BadInput: always.") == "Do it, at once."
    assert call("client", "cancel", Client.cancel) == "client.cancel(job_id, reason)"
    assert call("client", "enqueue", Client.enqueue) == "client.enqueue(job, args, connection, hooks, …, **options)"
