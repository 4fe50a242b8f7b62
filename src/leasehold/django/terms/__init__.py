"""What Django says and what we say for it: `interface.py` is Django's interface of tasks, `task.py` a task, `options.py` OPTIONS;
`jobs.py` makes a job of a task, `results.py` a result of a job. Nothing here asks a database."""
