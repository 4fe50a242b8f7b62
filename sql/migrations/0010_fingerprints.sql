-- What a request was that used an idempotency key, so that another one with the same key is told from its repetition.

alter table leasehold.idempotency_keys add column fingerprint text collate "C";

comment on column leasehold.idempotency_keys.fingerprint is
    'Stands for the request that used the key; another one with it is refused. Null: whoever used the key does not want that.';
