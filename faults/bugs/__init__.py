"""The checker is checked: bugs put into a copy of the SQL, each with a short scene that provokes it.

`catalogue.py` has them; `scenes.py` has scripts with a few hands on one database. Each scene also runs without its bug, and then
the checker must find nothing.
"""
