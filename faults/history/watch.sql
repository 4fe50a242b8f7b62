-- Notes everything that is accepted about jobs, whoever does it: row triggers that leasehold does not know of. A note is a row of
-- the transaction that makes the change, so it exists if and only if the change does.
create schema watch;
create sequence watch.numbers;
-- Who writes: the name of the session, and which process it belongs to, where its connection string says so.
create function watch.session() returns text language sql as $$
select current_setting('application_name') || coalesce(' @' || nullif(current_setting('faults.process', true), ''), '')
$$;
create table watch.notes (
    n bigint not null default nextval('watch.numbers'), xid xid8 not null default pg_current_xact_id(),
    at timestamptz not null default leasehold.clock(), by text not null default watch.session(),
    what text not null, doc jsonb not null
);
create table watch.changes (
    n bigint not null default nextval('watch.numbers'), xid xid8 not null default pg_current_xact_id(),
    at timestamptz not null default leasehold.clock(), by text not null default watch.session(),
    job bigint not null, old_state text, state text, old_attempt int, attempt int, old_owner uuid, owner uuid,
    old_lease timestamptz, lease timestamptz, claimed_at timestamptz, kind text, queue text, key text, key_group text, chain bigint,
    run_at timestamptz, max_attempts int, spared int, crashes int, tag bigint, unique_key text, schedule text, tick text
);
create table watch.ends (
    n bigint primary key default nextval('watch.numbers'), xid xid8 not null default pg_current_xact_id(),
    at timestamptz not null default leasehold.clock(), by text not null default watch.session(),
    job bigint not null, state text, attempt int, owner uuid, kind text, queue text, chain bigint, next bigint,
    error text, said_attempt int, said_owner text
);
create table public.effects (job_id bigint not null, attempt int not null);

create function watch.job() returns trigger language plpgsql as $$
declare
    r leasehold.jobs := coalesce(new, old);
begin
    insert into watch.changes (job, old_state, state, old_attempt, attempt, old_owner, owner, old_lease, lease, claimed_at, kind, queue,
                               key, key_group, chain, run_at, max_attempts, spared, crashes, tag, unique_key, schedule, tick)
    values (r.id, old.state, new.state, coalesce(old.attempt, 0), r.attempt, old.incarnation, new.incarnation,
            old.lease_expires_at, new.lease_expires_at, new.claimed_at, r.kind, r.queue, r.key, r.key_group, coalesce(r.chain_id, r.id),
            r.run_at, r.max_attempts, r.spared_attempts, coalesce(r.crashes, 0), (r.metadata ->> 'tag')::bigint,
            r.metadata ->> 'unique', r.metadata ->> 'schedule', r.metadata ->> 'tick');
    return null;
end $$;
create function watch.finished() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' then
        insert into watch.notes (what, doc) values ('forgotten', jsonb_build_object('job', old.id, 'state', old.state));
        return null;
    end if;
    insert into watch.ends (job, state, attempt, owner, kind, queue, chain, next, error, said_attempt, said_owner)
    values (new.id, new.state, new.attempt, new.incarnation, new.kind, new.queue, coalesce(new.chain_id, new.id), new.succeeded_by,
            new.error ->> 'type',
            case when jsonb_typeof(new.output -> 'token') = 'array' then (new.output #>> '{token,0}')::int end,
            case when jsonb_typeof(new.output -> 'token') = 'array' then new.output #>> '{token,1}' end);
    return null;
end $$;
create function watch.edge() returns trigger language plpgsql as $$
begin
    insert into watch.notes (what, doc) values ('edge', to_jsonb(new) - 'output');
    return null;
end $$;
create function watch.effect() returns trigger language plpgsql as $$
begin
    insert into watch.notes (what, doc) values ('effect', to_jsonb(new));
    return null;
end $$;
create function watch.tick() returns trigger language plpgsql as $$
begin
    insert into watch.notes (what, doc)
    select 'tick', to_jsonb(new) || jsonb_build_object('schedule', s.name, 'every', s.every, 'missed', s.missed)
      from leasehold.schedules s where s.id = new.schedule_id;
    return null;
end $$;
create function watch.queue() returns trigger language plpgsql as $$
begin
    insert into watch.notes (what, doc)
    values ('pause', jsonb_build_object('queue', new.queue, 'paused', new.paused_at is not null));
    return null;
end $$;
create function watch.lim() returns trigger language plpgsql as $$
begin
    insert into watch.notes (what, doc)
    values ('limit', jsonb_build_object('queue', coalesce(new.queue, old.queue), 'key_group', coalesce(new.key_group, old.key_group),
                                        'max_running', new.max_running, 'rate', new.rate, 'burst', new.burst));
    return null;
end $$;
create function watch.worker() returns trigger language plpgsql as $$
begin
    insert into watch.notes (what, doc)
    values ('worker', jsonb_build_object('incarnation', new.incarnation, 'worker_id', new.worker_id, 'pid', new.pid));
    return null;
end $$;

create trigger watch after insert or update or delete on leasehold.jobs for each row execute function watch.job();
create trigger watch after insert or delete on leasehold.finished_jobs for each row execute function watch.finished();
create trigger watch after insert or update on leasehold.job_blockers for each row execute function watch.edge();
create trigger watch after insert on public.effects for each row execute function watch.effect();
create trigger watch after insert on leasehold.schedule_ticks for each row execute function watch.tick();
create trigger watch after insert or update of paused_at on leasehold.queues for each row execute function watch.queue();
create trigger watch after insert or update or delete on leasehold.limits for each row execute function watch.lim();
create trigger watch after insert on leasehold.workers for each row execute function watch.worker();
