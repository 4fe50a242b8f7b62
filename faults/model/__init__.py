"""The lease protocol, small enough to be explored whole: every order of every step of two workers, two jobs, three attempts.

`protocol.py` is the model, `exploring.py` visits all states, `variants.py` has broken protocols that it refutes.
`docs/lease-model.md` tells what it shows.
"""
