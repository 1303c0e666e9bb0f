-- 1 where the stock is low. With an index on the quantities, PostgreSQL would write to all indexes of the table for each
-- order. This column rarely changes, so an order changes only the row, within its page, which has space for that.
alter table stock set (fillfactor = 50);
alter table stock add column is_low bigint
  generated always as (case when low_at is not null and on_hand - reserved <= low_at then 1 else 0 end) stored;
drop index stock_low;
create index stock_low on stock (cheese_id) where is_low = 1;
