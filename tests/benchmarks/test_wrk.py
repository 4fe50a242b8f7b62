from __future__ import annotations

import pytest

from benchmarks.wrk import read_report

REPORT = """Running 3s test @ http://127.0.0.1:8420/api/jobs
  1 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    18.09ms    8.12ms  87.93ms   86.33%
    Req/Sec   565.30    120.45   720.00     70.00%
  Latency Distribution
     50%  980.00us
     75%   20.91ms
     90%   26.30ms
     99%    1.25s
  1695 requests in 3.01s, 1.02MB read
Requests/sec:    563.12
Transfer/sec:    347.66KB
"""


def test_a_report_is_read() -> None:
    found = read_report(REPORT, 10)
    assert (found.connections, found.requests, found.per_second) == (10, 1695, 563.12)
    assert (found.p50_ms, found.p99_ms) == (pytest.approx(0.98), pytest.approx(1250))


@pytest.mark.parametrize(
    "wrong", ["  Non-2xx or 3xx responses: 3\n", "  Socket errors: connect 1, read 0, write 0, timeout 0\n"]
)
def test_answers_that_are_no_success_make_the_measurement_fail(wrong: str) -> None:
    with pytest.raises(RuntimeError, match="did not get what it asked for"):
        read_report(REPORT.replace("Requests/sec", wrong + "Requests/sec"), 10)
