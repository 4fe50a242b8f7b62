"""`leasehold demo`: real processes, real input, one worker killed, and the sums checked at the end.

The jobs are those of `examples/stdlib_census`, linked in here as `stdlib_census`: the wheel has no `examples`, and what
people see after `pip install` should be what they can read in the checkout. Nothing is imported here, so that the
command line stays quick.
"""
