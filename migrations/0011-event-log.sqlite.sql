-- The event log: events in one order, numbered from 1 without gaps. 0: an event outside the log (test orders, and events
-- from before the log). Null: waits for its number, which happens on PostgreSQL alone.
alter table event add column sequence integer;
update event set sequence = 0;
create unique index event_sequence on event (sequence) where sequence > 0;
create index event_waiting on event (id) where sequence is null;

-- One row. The columns from passed_ms on are used on PostgreSQL alone.
create table event_log (
  id integer primary key check (id = 1),
  last integer not null,
  first integer not null,
  passed_ms integer not null,
  identity text not null,
  floor_id integer not null,
  mark_xid integer not null,
  mark_id integer not null
);
insert into event_log (id, last, first, passed_ms, identity, floor_id, mark_xid, mark_id)
values (1, 0, 1, 0, '', 0, 0, 0);

-- A new epoch begins where the log may have lost events: after a restored backup, a copy, a reset or a failover.
create table event_epoch (
  name text primary key,
  first_sequence integer not null,
  cause text not null,
  began_at text not null
);
