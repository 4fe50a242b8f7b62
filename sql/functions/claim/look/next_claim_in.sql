-- Purpose     Tell when a claim may find something: the cheap look of a worker that polls, at a sixth of the cost of a
--             claim that comes back with nothing. It looks for any pending job, whoever serves it, and for keys whose
--             jobs may have been left waiting.
-- Parameters  queues: those the worker serves, null or empty for all
-- Returns     0 for at once, else as next_look_in
-- Errors      none
-- Tables      jobs (read, two index entries), lane_marks (read: while lanes have marks a claim is the cheaper look), as next_look_in
create or replace function leasehold.next_claim_in(queues text[] default null) returns double precision language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
    if exists (select from leasehold.lane_marks)
       or exists (select from leasehold.jobs j where j.state = 'pending')
       or exists (select from leasehold.jobs j where j.state = 'waiting' and j.run_at > '-infinity') then
        return 0;
    end if;
    return leasehold.next_look_in(next_claim_in.queues);
end
$$;
