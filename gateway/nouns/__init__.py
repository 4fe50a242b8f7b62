"""The nouns of the API, a file for each: what requests and answers look like, and handlers with their routes."""
