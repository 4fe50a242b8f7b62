"""`/api/workers…`: the fleet and the commands for it."""
