-- Server processes. Each writes its row once a minute, and deletes it when it stops.
create table instance (
  id text primary key,
  version text not null,
  started_at text not null,
  seen_at text not null
) without rowid;

-- Results of "curd doctor": the last 30. result: JSON.
create table doctor_run (
  id integer primary key autoincrement,
  at text not null,
  seconds integer not null,
  result text not null
);

-- Of the last "curd backup".
alter table shop add column last_backup_at text;
