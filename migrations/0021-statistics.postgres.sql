-- Figures of a quarter of an hour in UTC ('2026-06-01T10:15'), the finest unit that every time zone is made of. Money is
-- in cents.
create table statistic (
  measure text collate "C" not null,
  quarter text collate "C" not null,
  value bigint not null,
  primary key (measure, quarter)
);

-- What was ordered of a cheese on a day in UTC, without orders that were cancelled later. name: on the last of them.
create table statistic_cheese (
  day text collate "C" not null,
  cheese_id bigint not null,
  name text collate "C" not null,
  orders bigint not null,
  kilograms bigint not null,
  cents bigint not null,
  primary key (day, cheese_id)
);
create index statistic_cheese_by_cheese on statistic_cheese (cheese_id, day);

-- One row, once counting has begun. sequence: the last event of the log that is counted. history_id: the last row of the
-- table event that is counted of those up to that number; null once all of them are. customers_from: the quarter from
-- which the log still has all events of customers.
create table statistic_position (
  id bigint primary key check (id = 1),
  sequence bigint not null,
  history_id bigint,
  customers_from text collate "C" not null
);
