-- Purpose     Tell how many jobs of each queue and kind finish per second now. It counts the newest few thousand rows of
--             today's partition, which lie at its end, so it needs no index and reads no big table.
-- Parameters  only_queue, only_kind: only these; null: all
-- Returns     queue, kind · per_second: over the last 10 s where ten or more were finished in them, else over the last minute in
--             the same way, else over five. A kind of which fewer than two were finished is left out
-- Errors      none
-- Tables      finished_jobs (the last 256 pages of the current partition)
create or replace function leasehold.measure_rates(only_queue text default null, only_kind text default null)
returns table (queue text, kind text, per_second double precision) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_table regclass := coalesce(to_regclass('leasehold.finished_jobs_' || to_char(v_now, 'YYYYMMDD')),
                                 (select to_regclass('leasehold.' || quote_ident(p.name)) from leasehold.list_partitions() p
                                   where p.parent = 'finished_jobs' and p.since <= v_now and p.until > v_now), 'leasehold.finished_jobs_default');
    v_first bigint := greatest(0, pg_relation_size(v_table) / current_setting('block_size')::bigint - 256);
begin
    -- From the first one found: it opens the window, so it is not counted.
    return query execute format(
        'select distinct on (n.queue, n.kind) n.queue, n.kind,
                (n.jobs - 1) / greatest(0.001, extract(epoch from $3 - n.since))::double precision
           from (select f.queue, f.kind, w.seconds, count(*) as jobs, min(f.finished_at) as since
                   from (values (10), (60), (300)) w(seconds)
                   join (select queue, kind, finished_at from %s
                          where ctid >= $4 and ($1 is null or queue = $1) and ($2 is null or kind = $2) and finished_at <= $3) f
                     on f.finished_at > $3 - make_interval(secs => w.seconds)
                  group by f.queue, f.kind, w.seconds) n
          where n.jobs > 1 and (n.jobs >= 10 or n.seconds = 300)
          order by n.queue, n.kind, n.seconds', v_table)
    using measure_rates.only_queue, measure_rates.only_kind, v_now, format('(%s,0)', v_first)::tid;
end
$$;
