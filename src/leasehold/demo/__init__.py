"""`leasehold demo`: real processes, real input, one worker killed, and the sums checked at the end.

The jobs are those of `examples/stdlib_census`, linked in here as `stdlib_census` so that the wheel has them, too.
"""

from leasehold.demo.failure import DemoFailed
from leasehold.demo.run import run_demo
from leasehold.demo.summary import DemoReport

__all__ = ["DemoFailed", "DemoReport", "run_demo"]
