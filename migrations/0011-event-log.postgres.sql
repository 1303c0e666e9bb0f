-- The event log: events in one order, numbered from 1 without gaps. 0: an event outside the log (test orders, and events
-- from before the log). Null: waits for its number.
alter table event add column sequence bigint;
update event set sequence = 0;
create unique index event_sequence on event (sequence) where sequence > 0;
create index event_waiting on event (id) where sequence is null;

-- One row.
create table event_log (
  id bigint primary key check (id = 1),
  last bigint not null,
  first bigint not null,
  passed_ms bigint not null,
  identity text collate "C" not null,
  floor_id bigint not null,
  mark_xid bigint not null,
  mark_id bigint not null
);
insert into event_log (id, last, first, passed_ms, identity, floor_id, mark_xid, mark_id)
values (1, 0, 1, 0, '', 0, 0, 0);

-- A new epoch begins where the log may have lost events: after a restored backup, a copy, a reset or a failover.
create table event_epoch (
  name text collate "C" primary key,
  first_sequence bigint not null,
  cause text collate "C" not null,
  began_at text collate "C" not null
);

-- Changes after a restored dump, a point-in-time recovery and the promotion of a standby.
create function database_identity() returns text language sql stable as $$
  select s.system_identifier || ':' || d.oid || ':' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
  from pg_control_system() s, pg_database d where d.datname = current_database()
$$;

-- A pass: numbers committed events. Writers insert events without a number and share no lock; passes run one at a time.
-- Run it as a single statement at READ COMMITTED, and keep it volatile: each of its statements needs a new snapshot.
--
-- No gap, no duplicate: `last` and the numbers change in one transaction under the lock of the row.
-- A reader that sees a number sees all lower ones: the lock is kept until the commit, so passes commit in order.
-- Nothing is lost: a pass takes what has no number, however late it was committed.
-- Events of one subject are in the order of its changes: every change locks its subject before it inserts its event, so
-- the later event has the larger id, and a pass takes the lowest ids first.
-- An answered request comes before any that arrived later: it drew its ids before.
--
-- All events up to floor_id have a number. Without that floor, dead entries of event_waiting, which vacuum cannot remove
-- while a snapshot is open, would make each pass slower. A pass that numbered all it saw stores a mark: its transaction
-- id, and the newest event id from before it had that transaction id. Once all transactions up to the mark have ended
-- and a pass has numbered all it saw, the floor moves to the mark: later transactions draw larger event ids, because a
-- change precedes its event.
create function number_events(max_events integer, ignore_floor boolean,
  out numbered integer, out call_again boolean, out is_new_identity boolean) language plpgsql as $$
declare
  log event_log;
  lowest bigint;
  newest bigint;
  oldest_running bigint;
  chosen integer;
begin
  numbered := 0;
  is_new_identity := false;
  select case when ignore_floor then 0 else floor_id end into lowest from event_log where id = 1;
  call_again := exists (select from event where sequence is null and id > lowest);
  -- Nothing waits: no lock, no transaction id.
  if not call_again then return; end if;
  -- A pass ended less than 10 ms ago. (abs: the clock may have been set back.)
  perform from event_log
  where id = 1 and abs(extract(epoch from clock_timestamp()) * 1000 - passed_ms) < 10;
  if found then return; end if;
  select coalesce(max(id), 0) into newest from event;
  select * into log from event_log where id = 1 for update skip locked;
  -- Another pass is running.
  if not found then return; end if;
  if log.identity <> database_identity() then
    is_new_identity := true;
    return;
  end if;
  oldest_running := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  with picked as (
    select id from event where sequence is null and id > lowest order by id limit max_events
  ), placed as (
    select id, row_number() over (order by id) as place from picked
  ), done as (
    update event set sequence = log.last + place from placed where event.id = placed.id returning 1
  )
  select (select count(*) from picked), (select count(*) from done) into chosen, numbered;
  if numbered < chosen then
    raise exception 'an event was deleted while it was numbered';
  end if;
  call_again := numbered = max_events;
  if not call_again and oldest_running > log.mark_xid then
    log.floor_id := greatest(log.floor_id, log.mark_id);
    log.mark_xid := pg_current_xact_id()::text::bigint;
    log.mark_id := newest;
  end if;
  if numbered > 0 then
    update event_log set
      last = log.last + numbered,
      passed_ms = case when call_again then 0 else floor(extract(epoch from clock_timestamp()) * 1000) end,
      floor_id = log.floor_id,
      mark_xid = log.mark_xid,
      mark_id = log.mark_id
    where id = 1;
    perform pg_notify('curd_events', (log.last + numbered)::text);
  end if;
end $$;
