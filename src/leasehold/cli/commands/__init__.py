"""The commands, a file for each noun: a command and its view lie together. `shell/command_table.py` lists all of them."""
