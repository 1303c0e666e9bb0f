-- How many orders each owner has, by status: of all orders ('*'), of a customer ('customer:7'), and of a key or an
-- application without a customer, by the id of its principal. A row for each day of creation in UTC, and one for all days
-- (''). Test orders, with the ids 1 to 10, are not counted.
create table order_count (
  owner text not null,
  day text not null,
  placed integer not null,
  approved integer not null,
  shipped integer not null,
  delivered integer not null,
  cancelled integer not null,
  primary key (owner, day)
) without rowid;

-- Changes that are not yet in order_count. Triggers write them, so that the counts include orders of older versions and
-- of commands. An order that is new has no old status, and one that is deleted or gets another owner has no new one.
create table order_count_change (
  id integer primary key,
  day text not null,
  placed_by text not null,
  customer_id integer,
  old_status text,
  new_status text
);

create trigger order_inserted after insert on orders when new.id >= 11 begin
  insert into order_count_change (day, placed_by, customer_id, new_status)
  values (substr(new.created_at, 1, 10), new.placed_by, new.customer_id, new.status);
end;
create trigger order_status_changed after update of status on orders
when new.id >= 11 and new.status <> old.status and new.customer_id is old.customer_id and new.placed_by = old.placed_by
  and new.created_at = old.created_at begin
  insert into order_count_change (day, placed_by, customer_id, old_status, new_status)
  values (substr(new.created_at, 1, 10), new.placed_by, new.customer_id, old.status, new.status);
end;
create trigger order_owner_changed after update of customer_id, placed_by, created_at on orders
when new.id >= 11 and (new.customer_id is not old.customer_id or new.placed_by <> old.placed_by
  or new.created_at <> old.created_at) begin
  insert into order_count_change (day, placed_by, customer_id, old_status, new_status)
  values (substr(old.created_at, 1, 10), old.placed_by, old.customer_id, old.status, null),
    (substr(new.created_at, 1, 10), new.placed_by, new.customer_id, null, new.status);
end;
create trigger order_deleted after delete on orders when old.id >= 11 begin
  insert into order_count_change (day, placed_by, customer_id, old_status)
  values (substr(old.created_at, 1, 10), old.placed_by, old.customer_id, old.status);
end;

with counted as materialized (
  select placed_by, customer_id, substr(created_at, 1, 10) as day,
    sum(case when status = 'placed' then 1 else 0 end) as placed,
    sum(case when status = 'approved' then 1 else 0 end) as approved,
    sum(case when status = 'shipped' then 1 else 0 end) as shipped,
    sum(case when status = 'delivered' then 1 else 0 end) as delivered,
    sum(case when status = 'cancelled' then 1 else 0 end) as cancelled
  from orders where id >= 11 group by placed_by, customer_id, substr(created_at, 1, 10)
), owned as (
  select '*' as owner, day, placed, approved, shipped, delivered, cancelled from counted
  union all select 'customer:' || customer_id, day, placed, approved, shipped, delivered, cancelled from counted
    where customer_id is not null
  union all select placed_by, day, placed, approved, shipped, delivered, cancelled from counted
    where placed_by not like '%customer:%'
)
insert into order_count (owner, day, placed, approved, shipped, delivered, cancelled)
select owner, day, sum(placed), sum(approved), sum(shipped), sum(delivered), sum(cancelled) from owned group by owner, day;
insert into order_count (owner, day, placed, approved, shipped, delivered, cancelled)
select owner, '', sum(placed), sum(approved), sum(shipped), sum(delivered), sum(cancelled)
from order_count group by owner;
