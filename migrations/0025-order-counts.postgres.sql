-- How many orders each owner has, by status: of all orders ('*'), of a customer ('customer:7'), and of a key or an
-- application without a customer, by the id of its principal. A row for each day of creation in UTC, and one for all days
-- (''). Test orders, with the ids 1 to 10, are not counted.
create table order_count (
  owner text collate "C" not null,
  day text collate "C" not null,
  placed bigint not null,
  approved bigint not null,
  shipped bigint not null,
  delivered bigint not null,
  cancelled bigint not null,
  primary key (owner, day)
);

-- Changes that are not yet in order_count. Triggers write them, so that the counts include orders of older versions and
-- of commands. An order that is new has no old status, and one that is deleted or gets another owner has no new one.
create table order_count_change (
  id bigint generated always as identity primary key,
  day text collate "C" not null,
  placed_by text collate "C" not null,
  customer_id bigint,
  old_status text collate "C",
  new_status text collate "C"
);

create function record_order_count_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.customer_id is not distinct from old.customer_id and new.placed_by = old.placed_by
    and new.created_at = old.created_at
  then
    insert into order_count_change (day, placed_by, customer_id, old_status, new_status)
    values (substr(new.created_at, 1, 10), new.placed_by, new.customer_id, old.status, new.status);
    return null;
  end if;
  if tg_op <> 'INSERT' then
    insert into order_count_change (day, placed_by, customer_id, old_status)
    values (substr(old.created_at, 1, 10), old.placed_by, old.customer_id, old.status);
  end if;
  if tg_op <> 'DELETE' then
    insert into order_count_change (day, placed_by, customer_id, new_status)
    values (substr(new.created_at, 1, 10), new.placed_by, new.customer_id, new.status);
  end if;
  return null;
end
$$;
create trigger order_inserted after insert on orders for each row when (new.id >= 11)
  execute function record_order_count_change();
create trigger order_changed after update of status, customer_id, placed_by, created_at on orders for each row
  when (new.id >= 11 and (new.status, new.customer_id, new.placed_by, new.created_at)
    is distinct from (old.status, old.customer_id, old.placed_by, old.created_at))
  execute function record_order_count_change();
create trigger order_deleted after delete on orders for each row when (old.id >= 11)
  execute function record_order_count_change();

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
