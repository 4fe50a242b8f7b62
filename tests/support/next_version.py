"""A made-up next version of leasehold: hot functions with a new parameter, a new answer, a parameter that must be given.

It is a copy of the package in a folder, with a few texts replaced. Processes with `environment(folder)` run it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "leasehold"
MIGRATION = """
create table leasehold.hints (hint text primary key);
alter table leasehold.jobs add column colour text;
"""
NOTE_HINT = """
begin
    insert into leasehold.hints select claim_jobs.hint where claim_jobs.hint is not null on conflict do nothing;
"""
FORMER_RENEW = """
create or replace function leasehold.renew_leases(
    incarnation uuid, job_ids bigint[], attempts integer[], leases double precision[], ran_for double precision[]
) returns table (job_id bigint, reason text) language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select * from leasehold.renew_leases($1, $2, $3, $4, $5, 0::bigint)
$$;
"""
RENEWED = "now - h.started for h in due],\n            timeout=ANSWER_SECONDS,\n"
REASONS = " -> setof (job_id bigint, reason text)\n"
COMPLETE = (
    "complete_jobs(incarnation uuid, job_ids bigint[], attempts integer[], outputs jsonb[], ran_for double precision[])"
)
RENEW = COMPLETE.replace("complete_jobs", "renew_leases").replace("outputs jsonb[]", "leases double precision[]")

Pairs = list[tuple[str, str]]
REPLACED: dict[str, Pairs] = {
    # A new parameter that workers of the next version pass by name.
    "sql/functions/claim/claim_jobs.sql": [
        ("stays_idle boolean default false\n", "stays_idle boolean default false, hint text default null\n"),
        ("\nbegin\n", NOTE_HINT),
    ],
    "actors/leases/dispatcher.py": [
        ("kind_leases=self._kind_leases,", 'kind_leases=self._kind_leases,\n            hint="new",')
    ],
    # A new column of the answer.
    "sql/functions/settle/complete_jobs.sql": [
        ("returns table (job_id bigint, reason text)", "returns table (job_id bigint, reason text, note text)"),
        ("select r.job_id, r.reason\n", "select r.job_id, r.reason, null::text\n"),
    ],
    # A new parameter that has no default: the former signature is kept.
    "sql/functions/lease/renew_leases.sql": [
        ("ran_for double precision[]\n)", "ran_for double precision[], epoch bigint\n)")
    ],
    "actors/leases/keeper.py": [(RENEWED, f"{RENEWED}            epoch=7,\n")],
    "sql/signatures.txt": [
        ("stays_idle boolean =) -> setof (job_id", "stays_idle boolean =, hint text =) -> setof (job_id"),
        (COMPLETE + REASONS, COMPLETE + REASONS.replace("reason text", "reason text, note text")),
        (RENEW + REASONS, f"{RENEW[:-1]}, epoch bigint){REASONS}{RENEW}{REASONS}"),
    ],
    "sql/signatures_released.txt": [("# last release: none,", "# last release: 0.1,")],
}


def make_next_version(folder: Path) -> None:
    """Put it into a folder. Fails where a text that it replaces is not there any more, or not once."""
    package = folder / "leasehold"
    shutil.copytree(PACKAGE, package, symlinks=False, ignore=shutil.ignore_patterns("__pycache__"))
    for name, pairs in REPLACED.items():
        file = package / name
        text = file.read_text()
        for old, new in pairs:
            assert text.count(old) == 1, f"{name} has {old!r} {text.count(old)} times"
            text = text.replace(old, new)
        file.write_text(text)
    (package / "sql" / "migrations" / "0002_made_up.sql").write_text(MIGRATION)
    (package / "sql" / "former" / "renew_leases__0_1.sql").write_text(FORMER_RENEW)


def environment(folder: Path) -> dict[str, str]:
    """For processes that are to run what is in the folder."""
    return {"PYTHONPATH": str(folder)}
