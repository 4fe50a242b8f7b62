-- The whole life of each job: what its own columns tell, and the transitions that job_events keeps. Ask for one job_id.
create or replace view leasehold.job_timeline as
select j.id as job_id, moment.at, moment.event, moment.attempt, moment.worker_id, moment.message, moment.detail, moment.actor
  from leasehold.all_jobs j
 cross join lateral (values
       (0, j.created_at,  'created', 0,         null::text,  null::text,           null::jsonb, null::text),
       (1, j.claimed_at,  'claimed', j.attempt, j.worker_id, null,                 null,        null),
       (2, j.started_at,  'started', j.attempt, j.worker_id, null,                 null,        null),
       (3, j.finished_at, j.state,   j.attempt, j.worker_id,
           case j.state when 'failed' then leasehold.describe_error(j.error) else j.error ->> 'message' end, j.error,
           case j.state when 'cancelled' then j.error ->> 'by' end)
       ) as moment (position, at, event, attempt, worker_id, message, detail, actor)
 where moment.at is not null
union all
select e.job_id, moment.at, moment.event, e.attempt, e.worker_id, moment.message, moment.detail, moment.actor
  from leasehold.job_events e
 cross join lateral (values
       (e.claimed_at, 'claimed', null::text, null::jsonb, null::text),
       (e.started_at, 'started', null,       null,        null),
       (e.at,         e.event,   e.message,  e.detail,    e.actor)
       ) as moment (at, event, message, detail, actor)
 where moment.at is not null;
