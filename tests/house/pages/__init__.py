"""The code blocks of the pages, run as they stand there.

A page is run from top to bottom as one module: `python` blocks on a database and a client, `sql` blocks on the same database.
`stages/` says, page by page, what a page takes from elsewhere, and what has to have happened in the end. A block that cannot
be run says why in its fence: ```` ```python (not run: …) ````. It is compiled all the same, and its names have to be there.
"""
