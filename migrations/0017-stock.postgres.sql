-- Kilograms of the cheeses whose stock is tracked. reserved: promised to orders that are placed or approved. set_sold: the
-- status sold was set because nothing was available, and has not been changed since.
create table stock (
  cheese_id bigint primary key references cheese (id),
  on_hand bigint not null check (on_hand >= 0),
  reserved bigint not null check (reserved >= 0),
  low_at bigint,
  set_sold bigint not null default 0 check (set_sold in (0, 1)),
  version bigint not null default 1,
  tracked_since text collate "C" not null
);
create index stock_low on stock (cheese_id) where low_at is not null and on_hand - reserved <= low_at;

-- One row: the number of rows in the table stock.
create table stock_count (
  id bigint primary key check (id = 1),
  tracked bigint not null
);
insert into stock_count (id, tracked) values (1, 0);

-- Kilograms of this order that are reserved; 0 where the stock of the cheese is not tracked, and after shipping.
alter table open_order_cheese add column reserved_kg bigint not null default 0;

-- Whether the cheese has a row in the table stock, so that an order learns it from the row that it locks.
alter table cheese add column tracked bigint not null default 0;
