-- Orders that an operator approves, because a cheese has no price: no job does.
alter table orders add column needs_approval integer not null default 0;
update orders set needs_approval = 1 where status = 'placed' and id >= 11 and not exists (
  select 1 from background_job where kind = 'order.approval' and key = cast(orders.id as text));
create index orders_needing_approval on orders (id) where needs_approval = 1 and status = 'placed';
-- For orders that should have been shipped already.
create index orders_to_ship on orders (ship_date, id) where status = 'approved';
