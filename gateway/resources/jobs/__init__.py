"""`/api/jobs…`: making jobs, looking at them, changing them, one or many.

`handlers.py: unchanged` compares If-Match, and answers 412.
"""
