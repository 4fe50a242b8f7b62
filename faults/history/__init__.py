"""What happened in a run: records, the triggers that note them in the database, and one file that keeps them."""
