-- The version of the catalogue at the last change of a cheese: the order of the list of changes.
alter table cheese add column changed_in integer not null default 0;
update cheese set changed_in = (select version from catalogue);
create index cheese_by_change on cheese (changed_in, id);

-- A deleted cheese, until CURD_TOMBSTONE_RETENTION has passed.
create table cheese_tombstone (
  cheese_id integer primary key,
  changed_in integer not null,
  deleted_at text not null
);
create index cheese_tombstone_by_change on cheese_tombstone (changed_in, cheese_id);

-- The version of the newest tombstone that was removed. A reader that has not read up to it has missed a deletion.
alter table catalogue add column tombstones_after integer not null default 0;
