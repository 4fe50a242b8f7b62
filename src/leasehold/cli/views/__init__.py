"""Parts that the views of several commands are made of: tables, texts, durations. They know no command."""
