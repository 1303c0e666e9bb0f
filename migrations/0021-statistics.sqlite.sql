-- Figures of a quarter of an hour in UTC ('2026-06-01T10:15'), the finest unit that every time zone is made of. Money is
-- in cents.
create table statistic (
  measure text not null,
  quarter text not null,
  value integer not null,
  primary key (measure, quarter)
) without rowid;

-- What was ordered of a cheese on a day in UTC, without orders that were cancelled later. name: on the last of them.
create table statistic_cheese (
  day text not null,
  cheese_id integer not null,
  name text not null,
  orders integer not null,
  kilograms integer not null,
  cents integer not null,
  primary key (day, cheese_id)
) without rowid;
create index statistic_cheese_by_cheese on statistic_cheese (cheese_id, day);

-- One row, once counting has begun. sequence: the last event of the log that is counted. history_id: the last row of the
-- table event that is counted of those up to that number; null once all of them are. customers_from: the quarter from
-- which the log still has all events of customers.
create table statistic_position (
  id integer primary key check (id = 1),
  sequence integer not null,
  history_id integer,
  customers_from text not null
);
