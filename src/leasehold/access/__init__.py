"""Who may do what: Postgres roles and their functions, and the access tokens of the gateway.

`roles.py` reads the one table of rights, `sql/roles.sql`. Migrations, the gateway and the command line read it.
"""
