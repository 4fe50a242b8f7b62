-- The application's own tables.
create schema expenses;
create table expenses.payouts (who text not null, euros integer not null, approved_by text not null);
create table expenses.reminders (who text not null, at timestamptz not null default now());
