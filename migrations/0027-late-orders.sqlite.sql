-- Late orders are sorted by their creation: with its time in the index, without reading all of them.
drop index orders_to_ship;
create index orders_to_ship on orders (ship_date, created_at, id) where status = 'approved';
