-- Purpose     Explain how limits delay a job, for explain_job: those of its queue, and of its key group.
-- Parameters  job: the job
-- Returns     as explain_job: a row for each limit that lets nothing start now; until: when its next token comes, where it
--             lacks only that
-- Errors      none
-- Tables      limits, rate_buckets, jobs (read, held jobs of the queue)
create or replace function leasehold.explain_limits(job leasehold.all_jobs)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off set enable_seqscan = off as $$
select 'limited',
       case when l.key_group = '' then format('queue %s', job.queue) else format('key group %s of queue %s', job.key_group, job.queue) end
       || case when s.is_full then format(' may have %s running at once, and %s are held', l.max_running, h.running) else '' end
       || case when s.is_full and s.is_dry then ', and' when s.is_dry then '' else '' end
       || case when s.is_dry then format(' may start %s (%s at once), and its next start is in %s s',
                   case when l.rate < 1 then format('one every %s s', trim_scale(round((1 / l.rate)::numeric, 1))) else l.rate || ' a second' end,
                   l.burst, round(t.next_in::numeric, 1)) else '' end,
       case when s.is_dry and not s.is_full then t.at + make_interval(secs => t.next_in) end,
       jsonb_build_object('queue', l.queue, 'key_group', nullif(l.key_group, ''), 'max_running', l.max_running, 'running', h.running, 'rate', l.rate, 'burst', l.burst,
                          'tokens', t.level, 'next_token_in', t.next_in)
  from (values (''), (job.key_group)) g(key_group)
 cross join lateral (select m.* from leasehold.limits m
                      where m.queue = job.queue and m.key_group in (g.key_group, case when g.key_group <> '' then '*' end)
                      order by m.key_group = '*' limit 1) l
 cross join lateral (select count(*) as running from leasehold.jobs j
                      where j.queue = job.queue and j.state in ('claimed', 'running') and (g.key_group = '' or j.key_group = g.key_group)) h
  left join leasehold.rate_buckets b on b.queue = job.queue and b.key_group = g.key_group
 cross join lateral (select e.at, e.level, greatest(0, 1 - e.level) / l.rate as next_in
                       from (select c.at, case when l.rate is not null then leasehold.bucket_level(b.tokens, b.filled_at, l.rate, l.burst, c.at) end as level
                               from (select leasehold.clock() as at) c) e) t
 cross join lateral (select coalesce(h.running >= l.max_running, false) as is_full, coalesce(t.level < 0.999999, false) as is_dry) s
 where s.is_full or s.is_dry
 order by g.key_group
$$;
