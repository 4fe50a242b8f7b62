-- Lists of what is rare among finished jobs: what failed or was cancelled, and what was done about one key. Plain jobs that
-- complete are in neither index.

create index finished_jobs_unsuccessful on leasehold.finished_jobs (state, id) where state <> 'completed';
create index finished_jobs_key on leasehold.finished_jobs (key, id) where key is not null;
