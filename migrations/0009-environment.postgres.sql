-- One row about the whole shop. The environment is that of the first start, and unknown before it.
create table shop (
  id integer primary key check (id = 1),
  environment text collate "C" check (environment in ('local', 'sandbox', 'production'))
);
-- Shops that were made before this table existed: only production has live keys and no test orders.
insert into shop (id, environment)
select 1, case
  when exists (select 1 from api_key where type = 'live') and not exists (select 1 from orders where id <= 10)
  then 'production' end;
