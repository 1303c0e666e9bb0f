-- Lists of orders are sorted by (created_at, id). Ids do not follow the creation times where a clock was set back, and
-- where several instances place orders.
create index orders_by_created on orders (created_at, id);
drop index orders_by_placer;
create index orders_by_placer on orders (placed_by, created_at, id);
drop index orders_by_customer;
create index orders_by_customer on orders (customer_id, created_at, id) where customer_id is not null;
drop index orders_needing_approval;
create index orders_needing_approval on orders (created_at, id) where needs_approval = 1 and status = 'placed';
-- Nearly all orders are delivered, and need no entry: lists of them read orders_by_created.
drop index orders_by_status;
create index orders_by_status on orders (status, created_at, id) where status <> 'delivered';
