"""CPU-bound handlers in processes of their own.

pool        how many there are, which one runs what, and what becomes of a job whose process dies
apart       has one of them call a handler, and gives its answer as the handler would
child       what runs inside of them; wire: what goes in and comes out
parallel    the one module that knows trio-parallel, behind the interface in `member`
"""
