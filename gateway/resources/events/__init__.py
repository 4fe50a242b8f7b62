"""`/api/events`: the stream."""
