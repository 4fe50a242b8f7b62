-- What a request was that used an idempotency key, so that another one with the same key is told from its repetition. Its keys lie
-- apart from those by which producers name single jobs: one request may be many jobs, its parts.

alter table leasehold.idempotency_keys
    add column fingerprint text collate "C",
    add column part integer not null default 0,
    drop constraint idempotency_keys_pkey;
alter table leasehold.idempotency_keys add primary key (idempotency_key, part);

comment on column leasehold.idempotency_keys.fingerprint is
    'Stands for the request that used the key; another one with it is refused. Null: the key names a single job.';
comment on column leasehold.idempotency_keys.part is
    'Of a request the number of the job in it, from 1; 0: the key names a single job, and no request is compared.';
