"""Which operations of the HTTP API agents may use, by their names in the OpenAPI document."""

from __future__ import annotations

LOOKS: tuple[str, ...] = (
    "count_jobs",
    "list_jobs",
    "show_job",
    "explain_job",
    "show_timeline",
    "show_errors",
    "show_logs",
    "list_blockers",
    "list_key_jobs",
    "list_chains",
    "show_chain",
    "list_queues",
    "list_limits",
    "list_capacity",
    "show_capacity",
    "list_schedules",
    "show_schedule",
    "show_all_history",
    "list_workers",
    "show_worker",
    "list_audit",
)
"""What reads. None of them changes anything."""

CHANGES: dict[str, str | None] = {
    "retry_job": "show_job",
    "cancel_job": "show_job",
    "trigger_job": "show_job",
    "pause_queue": None,
    "resume_queue": None,
    "enable_schedule": "show_schedule",
    "disable_schedule": "show_schedule",
    "trigger_schedule": "show_schedule",
}
"""What changes one thing and can be put right again, each with the look that shows the thing as it is now.

Left out on purpose: whatever deletes, changes many things at once, writes args or code, or handles tokens.
"""
