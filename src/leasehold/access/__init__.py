"""Who may do what: Postgres roles and their functions, and the bearer tokens of the gateway.

`roles.py` is the one table of rights; `grants.py` makes SQL of it. Migrations, the gateway and the command line read it.
"""
