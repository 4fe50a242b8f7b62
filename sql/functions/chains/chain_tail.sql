-- Purpose     Find the last job of a chain: the open one, or the one that ended it. It alone tells how the chain
--             stands.
-- Parameters  chain_id: id of the first job
-- Returns     one row with job_id, state (of that job), is_open, output and error, finished_at; none for what is no chain
-- Errors      none
-- Tables      jobs, finished_jobs (read)
create or replace function leasehold.chain_tail(chain_id bigint)
returns table (job_id bigint, state text, is_open boolean, output jsonb, error jsonb, finished_at timestamptz) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select t.job_id, t.state, t.is_open, t.output, t.error, t.finished_at
  from (select * from (select j.id as job_id, j.state, true as is_open, null::jsonb as output, j.error, null::timestamptz as finished_at, 0 as rank
                         from leasehold.jobs j where j.id = chain_tail.chain_id and j.chain_id is null
                        union all
                       select j.id, j.state, true, null, j.error, null, 0 from leasehold.jobs j where j.chain_id = chain_tail.chain_id) o
        union all
        select * from (select f.id, f.state, false, f.output, f.error, f.finished_at, 1 from leasehold.finished_jobs f
                        where f.id = chain_tail.chain_id and f.chain_id is null and f.succeeded_by is null
                        union all
                       select l.id, l.state, false, l.output, l.error, l.finished_at, 1
                         from (select * from leasehold.finished_jobs f where f.chain_id = chain_tail.chain_id
                                order by f.chain_position desc limit 1) l
                        where l.succeeded_by is null) d
       ) t
 order by t.rank, t.finished_at desc limit 1
$$;
