"""The metrics of the database and of the requests of this process."""
