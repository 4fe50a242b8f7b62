-- The shop's own tables. There is no unique index on order_id, so that only the one commit prevents double rows.
create schema shop;
create table shop.orders (id bigint primary key, cents integer not null);
create table shop.payments (order_id bigint not null, cents integer not null, receipt text not null, booked_by text not null);
create table shop.shipments (order_id bigint not null, parcel bigint generated always as identity);
