-- Background work of every kind. It replaces the table `job`, which only had approvals of orders. `lane` and
-- `leased_until` are for kinds whose work leaves the database.
create table background_job (
  kind text not null,
  key text not null,
  lane text not null default '',
  payload text not null default '{}',
  due_at text not null,
  attempts integer not null default 0,
  last_error text,
  leased_until text,
  parked_at text,
  primary key (kind, key)
) without rowid;
create index background_job_due on background_job (kind, lane, due_at);
insert into background_job (kind, key, due_at, attempts)
select 'order.approval', cast(order_id as text), due_at, attempts from job;
drop table job;
