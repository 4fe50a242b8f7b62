"""`/api/queues…`: pausing, limits, ageing, rollups."""
