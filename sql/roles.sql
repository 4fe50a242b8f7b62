-- leasehold: its Postgres roles and what each may do; for a superuser, or the schema's owner if it may make roles.
-- `leasehold grants --apply` runs this, and `leasehold migrate` repeats it, since a replaced function has lost its rights.
-- Doing it again changes nothing. Log in as members: create role shop login password '...' in role leasehold_producer;
-- What a role may call runs with the rights of the owner: no producer and no worker needs a right on a table. What stands in no
-- row is called by other functions only. Roles belong to the server: two installations on it need two prefixes.
begin;
select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('leasehold.migrate', 0));
set local search_path = pg_catalog;
set local lock_timeout = '10s';
set local client_min_messages = warning;
do $do$
declare
    c_prefix  constant text := 'leasehold_';
    c_schema  constant oid := 'leasehold'::regnamespace;
    -- Each role, what it is for, the roles it is a member of, and the functions it may call.
    c_roles   constant json := (select json_agg(r) from (values
        ('owner', 'owns everything; `leasehold migrate` and `leasehold doctor` log in as a member', 'query',
         'define_source guard_source make_plain_job wake_plain_jobs'),
        ('producer', 'enqueues jobs: web applications', '',
         'enqueue_job enqueue_jobs enqueue_with_times wake_idle_workers'),
        ('waiter', 'waits for chains and sees their outputs, whoever made them: applications that show results', '',
         'watch_chains'),
        ('worker', 'claims, renews and settles jobs, and enqueues what follows: `leasehold run worker`', 'producer waiter',
         'acknowledge_command add_payload adopt_jobs assert_lease block_jobs cancel_job claim_jobs complete_job complete_jobs continue_jobs
         count_identities declare_kinds fail_jobs fail_unreadable_jobs find_epoch follow_clock get_job_blockers get_job_timeline get_payload
         heartbeat_worker held_jobs list_cancels list_payloads list_row_holders list_unblocked_jobs look_for_work name_payload next_claim_in
         next_look_in reap_jobs register_worker release_jobs renew_leases report_losses report_progress reschedule_jobs return_identity
         start_jobs stop_worker take_identity take_reap_turn write_job_logs'),
        ('maintainer', '`leasehold run scheduler reaper`: due jobs, schedules, expired leases, partitions, rollups', '',
         'age_jobs close_minutes declare_schedule delete_payloads drop_full_buckets drop_old_partitions drop_old_rollups drop_old_rows
         drop_old_ticks drop_rows_of_old_jobs ensure_partitions expire_jobs expire_old_payloads find_epoch fire_schedules follow_clock
         guard_default_partitions list_due_schedules list_stuck_leases lock_schedule_query make_jobs_due measure_depths measure_finished
         next_due_in next_expiry_in next_tick_in orphan_schedules plan_schedules promote_stranded_jobs read_schedule_rows reap_jobs
         stop_lost_sessions unblock_stranded_jobs'),
        ('reader', 'looks at everything but the hashes of tokens: dashboards, people', '',
         'audit_jobs bucket_bounds count_changes count_identities count_jobs describe_schedule desired_workers explain_job explain_queue
         find_page_end get_capacity get_chain get_chains get_command get_horizon get_job get_job_blockers get_job_errors get_job_logs
         get_job_progress get_job_timeline get_last_completion get_payload get_rates get_schedule get_totals get_worker has_renewed is_alive is_small
         list_arrivals list_blocked_jobs list_capacity list_chain_graph list_chain_jobs list_chains list_changes list_commands list_epochs
         list_failure_groups list_failures list_group_failures list_identities list_jobs list_key_groups list_key_jobs list_kinds
         list_leases list_limits list_minutes list_new_logs list_oldest_ready list_payloads list_progress
         list_queue_depths list_queues list_recent_jobs list_recent_ticks list_rollups list_schedule_marks list_schedule_ticks list_schedules
         list_slow_queues list_sources list_stuck_keys list_stuck_leases list_unclaimed_kinds list_wait_circles list_waiting_chains
         list_workers measure_capacity measure_fleet measure_flow measure_history measure_hour name_worker workers_needed'),
        ('operator', 'changes jobs, queues, schedules, limits and tokens: `leasehold gateway`, people on call', 'producer waiter reader',
         'acknowledge_command add_identity add_payload cancel_chain cancel_job cancel_jobs close_audit close_session command_worker
         complete_chain complete_schedule create_schedule create_session create_token declare_kinds declare_schedule delete_chain
         delete_job delete_jobs delete_payloads delete_schedule disable_schedule drop_kind drop_limit edit_job enable_schedule
         enqueue_for_keys enqueue_for_rows expire_payloads find_token generate_jobs heartbeat_worker list_audit list_orphan_files
         list_tokens lock_job move_jobs move_schedules name_payload pause_queue payload_patience plan_move read_schedule_rows
         recover_stale_jobs refill_jobs refuse_schedule register_worker repair_fault repair_jobs reset_schedule resume_queue
         retire_identity retry_job retry_jobs return_identity revoke_token seal_source set_ageing set_limit stop_worker take_identity
         trigger_job trigger_jobs trigger_schedule trigger_scheduled_jobs update_schedule wake write_audit'),
        ('scaler', 'asks how many workers are needed: KEDA', '',
         'desired_workers get_capacity has_renewed is_alive list_capacity list_queue_depths measure_capacity measure_hour workers_needed'),
        ('query', 'runs the stored SELECTs of schedules, with whatever else it was granted', '',
         '')
    ) r(name, purpose, includes, calls));
    -- These run with the rights of the role `query`, whoever calls them; and these columns not even a reader sees.
    c_queries constant text[] := '{read_schedule_rows}';
    c_plain   constant text[] := '{is_alive}';  -- with the rights of their callers: they become part of the query that asks
    c_secrets constant text[] := '{api_tokens.hash,api_sessions.hash,egress_identities.proxy_password}';
    c_scaler  constant text[] := '{v_worker_capacity}';
    v_owner   constant text := c_prefix || 'owner';
    v_query   constant text := c_prefix || 'query';
    v_all     text;
    v_former  text := (select pg_get_userbyid(nspowner) from pg_namespace where oid = c_schema);
    v         record;
begin
    for v in select c_prefix || r.name as role, r.purpose from json_to_recordset(c_roles) r(name text, purpose text) loop
        if not exists (select from pg_roles where rolname = v.role) then
            execute format('create role %s nologin', v.role);
            execute format('comment on role %s is %L', v.role, 'leasehold: ' || v.purpose);
        end if;
        v_all := concat_ws(', ', v_all, v.role);
    end loop;
    for v in select c_prefix || r.name as role, c_prefix || i.name as part from json_to_recordset(c_roles) r(name text, includes text)
              cross join lateral regexp_split_to_table(nullif(r.includes, ''), ' ') i(name) loop
        if not pg_has_role(v.role, v.part, 'member') then
            execute format('grant %s to %s', v.part, v.role);
        end if;
    end loop;
    if v_former <> v_owner then  -- who owned it goes on, as a member of the new owner
        if not (select rolsuper from pg_roles where rolname = v_former) then
            execute format('grant %s to %I', v_owner, v_former);
        end if;
        execute format('alter schema leasehold owner to %s', v_owner);
    end if;
    for v in select case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end as kind,
                    c.oid::regclass::text as name from pg_class c
              where c.relnamespace = c_schema and c.relkind in ('r', 'p', 'v', 'm', 'S') and c.relowner <> v_owner::regrole
                and not (c.relkind = 'S' and exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')))
             union all
             select 'type', t.oid::regtype::text from pg_type t join pg_class c on c.oid = t.typrelid
              where t.typnamespace = c_schema and c.relkind = 'c' and t.typowner <> v_owner::regrole
             union all
             select 'function', p.oid::regprocedure::text from pg_proc p
              where p.pronamespace = c_schema and p.proowner <> v_owner::regrole and p.proname <> all (c_queries) loop
        execute format('alter %s %s owner to %s', v.kind, v.name, v_owner);
    end loop;
    execute format('revoke all on schema leasehold from public, %s', v_all);
    execute format('grant all on schema leasehold to %s', v_owner);
    execute format('grant usage on schema leasehold to %s', v_all);
    for v in select unnest('{tables,sequences,functions}'::text[]) as kind loop
        execute format('revoke all on all %s in schema leasehold from public, %s', v.kind, v_all);
        execute format('grant all on all %s in schema leasehold to %s', v.kind, v_owner);
    end loop;
    execute format('alter default privileges for role %s revoke execute on functions from public', v_owner);
    execute format('grant select on leasehold.schema_migrations, leasehold.schema_repeatables to %s', v_all);
    execute format('grant execute on function leasehold.clock to %s', v_all);  -- with the rights of its caller
    -- A function that is set aside while others still call it has the rights of the one that took its place.
    for v in select p.oid::regprocedure::text as name, p.proname = any (c_queries) as is_query, p.proowner = v_query::regrole as is_given,
                    string_agg(c_prefix || r.name, ', ') as callers, p.prosecdef as is_definer,
                    count(r.name) > 0 and p.proname <> all (c_plain) as is_to_define from pg_proc p
               left join json_to_recordset(c_roles) r(name text, calls text)
                 on regexp_replace(p.proname, '_aside_[0-9]+$', '') = any (regexp_split_to_array(r.calls, E'\\s+'))
              where p.pronamespace = c_schema group by p.oid loop
        if v.is_definer <> v.is_to_define then
            execute format('alter function %s security %s', v.name, case when v.is_to_define then 'definer' else 'invoker' end);
        end if;
        if v.is_query and not v.is_given then
            execute format('grant create on schema leasehold to %s', v_query);
            execute format('alter function %s owner to %s', v.name, v_query);
            execute format('revoke create on schema leasehold from %s', v_query);
        end if;
        if v.callers is not null then
            execute format('grant execute on function %s to %s', v.name, concat_ws(', ', v.callers, v_owner, case when v.is_query then v_query end));
        end if;
    end loop;
    for v in select c.oid::regclass::text as name, c.relname = any (c_scaler) as is_scaler, bool_or(s.is_secret) as has_secrets,
                    string_agg(quote_ident(a.attname), ', ' order by a.attnum) filter (where not s.is_secret) as columns
               from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
              cross join lateral (select c.relname || '.' || a.attname = any (c_secrets) as is_secret) s
              where c.relnamespace = c_schema and c.relkind in ('r', 'p', 'v', 'm') group by c.oid loop
        execute format('grant select %s on %s to %sreader', case when v.has_secrets then '(' || v.columns || ')' end, v.name, c_prefix);
        if v.is_scaler then
            execute format('grant select on %s to %sscaler', v.name, c_prefix);
        end if;
    end loop;
end
$do$;
commit;
