"""What the reading functions answer with, as plain values: jobs, chains, queues, workers.

Everybody may import these; they know nobody. Records of schedules, capacity and tokens lie in the rooms of those nouns.
"""
