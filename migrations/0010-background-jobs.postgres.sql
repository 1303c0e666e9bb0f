-- Background work of every kind. It replaces the table `job`, which only had approvals of orders. `lane` and
-- `leased_until` are for kinds whose work leaves the database.
create table background_job (
  kind text collate "C" not null,
  key text collate "C" not null,
  lane text collate "C" not null default '',
  payload text collate "C" not null default '{}',
  due_at text collate "C" not null,
  attempts bigint not null default 0,
  last_error text collate "C",
  leased_until text collate "C",
  parked_at text collate "C",
  primary key (kind, key)
);
create index background_job_due on background_job (kind, lane, due_at);
insert into background_job (kind, key, due_at, attempts)
select 'order.approval', cast(order_id as text), due_at, attempts from job;
drop table job;
