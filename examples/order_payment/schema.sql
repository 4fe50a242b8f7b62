-- The shop's own tables. No unique index on order_id: nothing but the one commit keeps the rows single.
create schema shop;
create table shop.orders (id bigint primary key, cents integer not null);
create table shop.payments (order_id bigint not null, cents integer not null, receipt text not null, booked_by text not null);
create table shop.shipments (order_id bigint not null, parcel bigint generated always as identity);
