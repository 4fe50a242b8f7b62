-- Purpose     List the key groups of a queue that have jobs to do: those first that hold most, then those with the longest line. It
--             skips through an index from group to group, so a group with a million pending jobs costs no more than one with a thousand.
-- Parameters  queue · most: groups, 1 to 1000; of those with pending jobs it looks at this many, in the order of their names
--             counted: count no more pending jobs of each than this, 1 to 10000
-- Returns     key_group · held: jobs that workers have · pending: jobs that may start, at the most `counted`; quarantined ones and
--             suspects not · waits_for: seconds that the first of them has waited, null where there is none
-- Errors      LH001 most or counted out of range
-- Tables      jobs (read: held jobs, an index entry for each group, and up to `counted` for each)
create or replace function leasehold.list_key_groups(queue text, most integer default 50, counted integer default 1000)
returns table (key_group text, held integer, pending integer, waits_for double precision) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
begin
    if coalesce(list_key_groups.most, 0) not between 1 and 1000 then
        raise exception using errcode = 'LH001', message = format('most must be from 1 to 1000, not %s', coalesce(list_key_groups.most::text, 'null'));
    elsif coalesce(list_key_groups.counted, 0) not between 1 and 10000 then
        raise exception using errcode = 'LH001', message = format('counted must be from 1 to 10000, not %s', coalesce(list_key_groups.counted::text, 'null'));
    end if;
    return query
    with recursive walk(key_group) as (
        (select j.key_group from leasehold.jobs j
          where j.state = 'pending' and j.key_group is not null and j.crashes is null and j.queue = list_key_groups.queue
          order by j.key_group limit 1)
        union all
        select n.key_group from walk w
         cross join lateral (select j.key_group from leasehold.jobs j
                              where j.state = 'pending' and j.key_group is not null and j.crashes is null and j.queue = list_key_groups.queue
                                and j.key_group > w.key_group
                              order by j.key_group limit 1) n
    ), waiting as materialized (
        select w.key_group from walk w limit list_key_groups.most
    ), holding as materialized (
        select j.key_group, count(*)::integer as held from leasehold.jobs j
         where j.state in ('claimed', 'running') and j.queue = list_key_groups.queue and j.key_group is not null
         group by j.key_group order by 2 desc, 1 limit list_key_groups.most
    )
    select k.key_group, coalesce(h.held, 0), l.jobs, case when l.since is not null then greatest(0, date_part('epoch', v_now - l.since)) end
      from (select w.key_group from waiting w union select g.key_group from holding g) k
      left join holding h on h.key_group = k.key_group
     cross join lateral (select count(*)::integer as jobs, min(f.since) as since
                           from (select coalesce(j.pending_at, j.run_at) as since from leasehold.jobs j
                                  where j.state = 'pending' and j.key_group is not null and j.crashes is null
                                    and j.queue = list_key_groups.queue and j.key_group = k.key_group
                                  order by j.kind, j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit list_key_groups.counted) f) l
     order by 2 desc, 3 desc, 1 limit list_key_groups.most;
end
$$;
