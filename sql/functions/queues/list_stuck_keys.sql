-- Purpose     List the keys that one job has held for long while others of the key wait for it, those held longest first.
-- Parameters  longer_than: seconds that are long · most: at most so many keys, 1 to 1000
-- Returns     key · job_id, kind, queue, attempt, worker_id: of the job that holds it · claimed_at; held_for: seconds since
--             waiting: jobs that wait for the key, counted up to 1000
-- Errors      LH001 longer_than negative, most out of range
-- Tables      jobs (read: the jobs that hold keys, and 1000 index entries for each key told)
create or replace function leasehold.list_stuck_keys(longer_than double precision default 300, most integer default 20)
returns table (key text, job_id bigint, kind text, queue text, attempt integer, worker_id text, claimed_at timestamptz, held_for double precision,
               waiting bigint) language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    c_count constant integer := 1000;
    v_now   timestamptz := leasehold.clock();
begin
    if (list_stuck_keys.longer_than >= 0) is not true or coalesce(list_stuck_keys.most, 0) not between 1 and 1000 then
        raise exception using errcode = 'LH001', message = 'longer_than must be 0 or more seconds, most from 1 to 1000';
    end if;
    return query
    -- Chosen first and counted then: of a key that is not told nothing more is read than that somebody waits.
    with stuck as materialized (
        select h.key, h.id, h.kind, h.queue, h.attempt, h.worker_id, h.claimed_at
          from leasehold.jobs h
         where h.key is not null and h.incarnation is not null and h.claimed_at <= v_now - make_interval(secs => list_stuck_keys.longer_than)
           and (select true from leasehold.jobs w where w.key = h.key and w.state in ('pending', 'waiting') limit 1)
         order by h.claimed_at, h.id limit list_stuck_keys.most
    )
    select s.key, s.id, s.kind, s.queue, s.attempt, s.worker_id, s.claimed_at, date_part('epoch', v_now - s.claimed_at),
           (select count(*) from (select from leasehold.jobs w where w.key = s.key and w.state in ('pending', 'waiting') limit c_count) f)
      from stuck s
     order by s.claimed_at, s.id;
end
$$;
