"""The nouns of the client, one file each: `client.queues` is `Queues` in `queues.py`.

A method is named as the verb of its SQL function and does not repeat the noun: `pause_queue` is `client.queues.pause`. What
belongs to one thing is read by its name: `client.jobs.timeline(42)`. Only `Client` makes a noun. Start with `queues.py`.
"""
