from __future__ import annotations

from tests.leasehold.cli.conftest import Cli, Sql
from tests.support.sources.seeds import CRAWL_JOBS, WORKER_TASKS

FILL = """
insert into worker_tasks (role) select 'store_discovery' from generate_series(1, 3);
insert into task_schedules (name, role, interval_hours) values ('hourly', 'store_discovery', 1);
"""


def test_a_queue_is_defined_looked_at_and_moved(cli: Cli, sql: Sql) -> None:
    sql(WORKER_TASKS + FILL)
    assert cli("import", "define", "worker_tasks", "--output", "text").out.splitlines() == [
        "source worker_tasks defined; look with  leasehold import plan worker_tasks"
    ]
    plan = cli("import", "plan", "--output", "json").json()
    assert [(row["state"], row["row_count"]) for row in plan["rows"]] == [("pending", 3), ("schedule", 1)]
    refused = cli("import", "run", "worker_tasks")
    assert (refused.code != 0, "add --yes" in refused.err) == (True, True)
    shown = cli("import", "run", "worker_tasks", "--yes", "--output", "text").out.splitlines()
    assert shown[0] == "public.worker_tasks: 3 jobs moved, 0 cancelled"
    assert [line.split() for line in shown[1:]] == [["schedule", "outcome", "complaint"], ["hourly", "moved"]]
    [listed] = cli("import", "list", "--output", "json").json()
    assert (listed["jobs"], listed["schedules"], listed["sealed_at"] is None) == (3, 1, False)
    assert "worker_tasks" in cli("import", "list", "--output", "text").out
    assert cli("import", "open", "--output", "text").out.startswith("the source is now open")
    assert cli("import", "seal", "--output", "json").json() == {"sealed": True, "changed": True}
    assert cli("import", "schedules", "--disable", "--output", "json").json() == []


def test_a_terminal_shows_how_many_rows_are_done_and_a_pipe_does_not(cli: Cli, sql: Sql) -> None:
    sql(WORKER_TASKS + FILL)
    cli("import", "define", "worker_tasks")
    assert cli("import", "run", "--yes", terminal=True).err == f"3 rows done\r{' ' * 11}\r"
    sql("insert into worker_tasks (role) values ('store_discovery')")
    assert cli("import", "run", "--yes").err == ""


def test_what_cannot_be_read_is_told(cli: Cli) -> None:
    assert "there is no mapping 'celery'" in cli("import", "define", "celery").err
    assert "none is defined" in cli("import", "plan").err


def test_a_schema_that_is_not_there_is_refused_at_once(cli: Cli) -> None:
    refused = cli("import", "define", "worker_tasks", "--schema", "nosuch")
    assert (refused.code, "there is no schema 'nosuch' here" in refused.err) == (2, True)
    assert cli("import", "list", "--output", "json").json() == []


def test_a_plan_tells_which_jobs_would_be_made_besides(cli: Cli, sql: Sql) -> None:
    sql(WORKER_TASKS + CRAWL_JOBS)
    kind = '[{"kind": "store_discovery", "args_schema": {"type": "object", "required": ["chain"]}}]'
    sql(f"select * from leasehold.declare_kinds('{kind}', 'shop:app', '1', false)")
    cli("import", "define", "crawl_jobs")
    shown = cli("import", "plan", "--output", "text").out
    assert "product_resync: 10 jobs to make" in shown
    assert "store_discovery: 1 rows refused, and get no job: args do not fit store_discovery" in shown
    done = cli("import", "run", "--yes", "--output", "text").out
    assert "product_resync: 10 jobs made" in done
    assert "store_discovery: 1 rows refused" in done
