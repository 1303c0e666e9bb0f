-- 1 where the stock is low. An index on this column instead of the quantities: see the file for PostgreSQL.
alter table stock add column is_low integer
  generated always as (case when low_at is not null and on_hand - reserved <= low_at then 1 else 0 end) virtual;
drop index stock_low;
create index stock_low on stock (cheese_id) where is_low = 1;
