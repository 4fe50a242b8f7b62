"""Which Postgres role may call which SQL function: the one table that `leasehold grants` is made from.

A role may call what stands in its row and in the rows of the roles it includes. Every function of `sql/functions/` stands
in one row at least; those in `INTERNAL` are called by other functions only, and by no role. A test tells what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

RoleName = Literal["owner", "producer", "waiter", "worker", "maintainer", "reader", "operator", "scaler", "query"]

ROLE_NAMES: tuple[RoleName, ...] = get_args(RoleName)
PURPOSES: Mapping[RoleName, str] = {
    "owner": "owns everything; `leasehold migrate` and `leasehold doctor` log in as a member",
    "producer": "enqueues jobs: web applications",
    "waiter": "waits for chains and sees their outputs, whoever made them: applications that show results",
    "worker": "claims, renews and settles jobs, and enqueues what follows: `leasehold run worker`",
    "maintainer": "`leasehold run scheduler reaper`: due jobs, schedules, expired leases, partitions, rollups",
    "reader": "looks at everything but the hashes of tokens: dashboards, people",
    "operator": "changes jobs, queues, schedules, limits and tokens: `leasehold gateway`, people on call",
    "scaler": "asks how many workers are needed: KEDA",
    "query": "runs the stored SELECTs of schedules, with whatever else it was granted",
}
INCLUDES: Mapping[RoleName, tuple[RoleName, ...]] = {
    "owner": ("query",),
    "worker": ("producer", "waiter"),
    "operator": ("producer", "waiter", "reader"),
}
"""Which roles a role is a member of."""
WRITING_NOTHING: tuple[RoleName, ...] = ("reader", "scaler")
"""Whose functions change no row and lock none. A test holds it for each function and for all that it calls."""
SEEING_NO_CONTENTS: tuple[RoleName, ...] = ("producer", "scaler")
"""Whose functions and views answer with no args, outputs, errors or metadata of jobs."""


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


EVERYBODY = frozenset({"clock"})
"""What every role may call; it runs with the caller's rights."""

QUERY_FUNCTIONS = frozenset({"read_schedule_rows"})
"""What the role `query` owns, so that it runs with that role's rights for every caller."""

FUNCTIONS: Mapping[RoleName, frozenset[str]] = {
    "owner": names("""
        define_source guard_source make_plain_job wake_plain_jobs
    """),
    "producer": names("""
        enqueue_job enqueue_jobs enqueue_with_times wake_idle_workers
    """),
    "waiter": names("""
        watch_chains
    """),
    "worker": names("""
        acknowledge_command add_payload adopt_jobs assert_lease block_jobs cancel_job claim_jobs complete_job
        declare_kinds
        complete_jobs continue_jobs fail_jobs find_epoch get_job_blockers get_job_timeline get_payload
        fail_unreadable_jobs follow_clock
        heartbeat_worker held_jobs list_payloads list_row_holders list_unblocked_jobs look_for_work name_payload next_claim_in
        next_look_in reap_jobs register_worker release_jobs renew_leases report_losses report_progress reschedule_jobs
        start_jobs stop_worker take_reap_turn write_job_logs
        count_identities return_identity take_identity
    """),
    "maintainer": names("""
        age_jobs close_minutes declare_schedule delete_payloads drop_full_buckets drop_old_partitions drop_old_rollups
        drop_old_rows drop_old_ticks drop_rows_of_old_jobs ensure_partitions expire_jobs expire_old_payloads
        find_epoch fire_schedules guard_default_partitions list_due_schedules list_stuck_leases lock_schedule_query make_jobs_due
        follow_clock measure_depths measure_finished
        next_due_in next_expiry_in next_tick_in orphan_schedules plan_schedules promote_stranded_jobs
        read_schedule_rows reap_jobs stop_lost_sessions unblock_stranded_jobs
    """),
    "reader": names("""
        audit_jobs bucket_bounds count_changes count_jobs describe_schedule desired_workers explain_job find_page_end
        get_capacity get_chain get_chains get_command get_horizon get_job get_job_blockers get_job_errors get_job_logs
        get_job_progress get_job_timeline get_last_completion get_payload get_rates get_schedule get_totals get_worker
        is_alive list_arrivals list_blocked_jobs list_capacity list_chain_graph list_chain_jobs list_chains list_changes
        list_commands list_epochs list_failure_groups list_failures list_group_failures list_jobs list_key_jobs list_limits
        list_kinds list_oldest_ready list_payloads
        list_queue_depths list_queues list_recent_jobs list_rollups list_schedule_ticks list_schedules
        list_stuck_leases list_unclaimed_kinds list_wait_circles list_waiting_chains list_workers measure_capacity
        measure_fleet measure_flow measure_hour name_worker workers_needed
        count_identities list_identities
        explain_queue list_key_groups list_latest_ticks list_leases list_slow_queues list_stuck_keys measure_history
        list_sources
        is_small list_minutes list_new_logs list_progress list_schedule_marks
    """),
    "operator": names("""
        acknowledge_command add_payload cancel_chain cancel_job cancel_jobs close_audit close_session command_worker
        complete_chain complete_schedule create_schedule create_session create_token declare_kinds declare_schedule delete_chain
        delete_job delete_jobs delete_payloads delete_schedule disable_schedule drop_kind drop_limit edit_job enable_schedule
        enqueue_for_keys enqueue_for_rows expire_payloads find_token generate_jobs heartbeat_worker list_audit list_orphan_files
        list_tokens lock_job name_payload pause_queue payload_patience read_schedule_rows recover_stale_jobs
        refuse_schedule register_worker repair_fault repair_jobs reset_schedule resume_queue retry_job retry_jobs
        revoke_token set_ageing set_limit stop_worker trigger_job trigger_jobs trigger_schedule trigger_scheduled_jobs
        update_schedule wake write_audit
        add_identity retire_identity return_identity take_identity
        move_jobs move_schedules plan_move refill_jobs seal_source
    """),
    "scaler": names("""
        desired_workers get_capacity is_alive list_capacity list_queue_depths measure_capacity measure_hour
        workers_needed
    """),
}

INTERNAL = names("""
    add_blockers add_histograms add_jobs add_rollups apply_continuations apply_unique_jobs blame_jobs bucket_level
    bucket_of chain_jobs chain_tail change_jobs claim_unique_jobs claim_unique_keys clear_suspects close_chains
    count_dead_entries count_jobs_ahead demote_keyed_jobs derive_key describe_error describe_links describe_row_holders
    describe_waiters desired_slots enqueue_once epoch_mark excuse_jobs explain_blocked_job explain_finished_job
    explain_held_job explain_key explain_limits explain_pending_job explain_waiting_job find_faults find_lanes
    find_failures find_place name_failure
    find_schedule find_servers find_some_lanes find_worker finish_jobs has_room hold_unique_jobs is_blocker is_bound
    is_epoch_over is_over is_schedule_busy is_stranger key_lock limit_lanes list_marked_jobs
    list_marked_lanes list_open_groups
    list_default_partitions list_partitions list_ready_kinds lock_chains lock_queue longest_time
    look_behind_marks make_histogram make_summaries make_tick_jobs measure_percentile measure_rate most_crashes
    name_idle_workers name_job name_refusals name_unique_key open_lock promote_waiting_jobs queue_lock raise_marks
    read_simple_jobs read_system reclaim_unique_jobs refuse_blocker refuse_chain
    refuse_continuation refuse_epoch refuse_finished_job refuse_job refuse_locked_job refuse_unique reopen_jobs
    replan_schedules reserve_suspects retry_delay return_jobs return_tokens run_schedule send_notice set_schedule settle_buckets
    share_batch share_limit spend_tokens start_epoch unblock_jobs wait_for_queue wake_limited_queues write_epoch
    write_minutes
    is_leased
    fill_jobs is_easy make_easy_args refuse_args refuse_kind refuse_value
    find_source read_payload read_source_rows refuse_mapping
""")

SCALER_VIEWS = ("v_worker_capacity",)
SECRET_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "api_tokens": ("hash",),
    "api_sessions": ("hash",),
    "egress_identities": ("proxy_password",),
}
"""What not even a reader may see."""


def functions_of(role: RoleName) -> frozenset[str]:
    """Everything that a role may call, with what it gets from the roles it includes. The owner may call all there is."""
    own = FUNCTIONS.get(role, frozenset()) | EVERYBODY
    return own.union(*(functions_of(each) for each in INCLUDES.get(role, ())))


def public_functions() -> frozenset[str]:
    """Those that run with the rights of their owner for every caller."""
    return frozenset[str]().union(*FUNCTIONS.values())
