-- The tables of the crawl.
create schema crawl;

create table crawl.stores (
    id                bigint primary key,
    state_code        text not null,
    menu_url          text not null,
    platform_id       bigint, -- unknown until its entry point is discovered
    found_at          timestamptz not null default now(),
    last_fetch_at     timestamptz,
    refreshed_payload bigint not null default 0
);

create table crawl.products (
    store_id  bigint not null references crawl.stores,
    sku       text not null,
    name      text not null,
    cents     integer not null,
    stock     integer not null,
    image_url text not null,
    sightings integer not null default 1,
    is_missing boolean not null default false,
    primary key (store_id, sku)
);

create table crawl.snapshots (
    payload_id bigint not null,
    store_id   bigint not null references crawl.stores,
    sku        text not null,
    cents      integer not null,
    stock      integer not null,
    primary key (payload_id, sku)
);

create table crawl.price_history (
    payload_id bigint not null,
    store_id   bigint not null,
    sku        text not null,
    cents      integer not null
);

create table crawl.images (hash bytea primary key, content bytea not null);
create table crawl.image_urls (url text primary key, hash bytea references crawl.images);

create materialized view crawl.state_summary as
select s.state_code, count(distinct s.id) as stores, count(p.sku) filter (where not p.is_missing) as products,
       sum(p.cents) filter (where not p.is_missing) as cents, sum(p.stock) filter (where not p.is_missing) as stock
  from crawl.stores s left join crawl.products p on p.store_id = s.id group by s.state_code;
