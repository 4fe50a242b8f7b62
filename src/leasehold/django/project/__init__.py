"""The project as a whole: which of its backends are ours, and whether its databases have our schema."""
