"""One program for each contestant; each runs in the environment of its own, so none of them imports another file of ours.

Actions: `prepare` the schema; `enqueue` COUNT jobs one by one in TASKS tasks on one client; `bulk` COUNT jobs, 1,000 in a call;
`ping` COUNT jobs, one each 50 ms, with the time in their args; `work` until SIGTERM, printing the milliseconds since that time.
The first four print a line of JSON: {"seconds": …, "cpu": …}.
"""
