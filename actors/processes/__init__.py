"""CPU-bound handlers in processes of their own.

pool        how many there are, which one runs what, and how much memory it may have
member      one process: started, called, killed; the one module that knows trio-parallel
deaths      how a process died, and what its job is told
apart       has one of them call a handler, and gives its answer as the handler would
child       what runs inside of them; wire: what goes in and comes out
"""
