from __future__ import annotations

from leasehold.observability.wording import show_bytes


def test_sizes_have_the_unit_that_fits() -> None:
    assert [show_bytes(count) for count in (0, 12, 5 * 1024, 300 * 2**20)] == ["0 B", "12 B", "5 KiB", "300 MiB"]
    assert [show_bytes(count) for count in (3 * 2**29, 2**44)] == ["1.5 GiB", "16384.0 GiB"]
