-- Commands to workers, and how each stands: pending, received, done, failed, or expired: nobody will carry it out any more.
create or replace view leasehold.all_commands as
select c.id, w.worker_id, c.incarnation, c.command, c.args,
       case when c.done_at is not null then case when c.error is null then 'done' else 'failed' end
            when w.incarnation is null or not leasehold.is_alive(w, t.now) then 'expired'
            when c.received_at is not null then 'received'
            when c.expires_at <= t.now then 'expired'
            else 'pending' end as state,
       c.created_at, c.expires_at, c.received_at, c.done_at, c.result, c.error
  from leasehold.worker_commands c
  left join leasehold.workers w on w.incarnation = c.incarnation
 cross join (select leasehold.clock() as now) t;
