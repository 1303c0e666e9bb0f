-- Filters, sorts and counts of the catalogue. -1: the cheese has no price or no age.
alter table cheese add column price double precision not null default -1;
alter table cheese add column age bigint not null default -1;
-- Ids of the terms that facets count: category, tags, origin, organic.
alter table cheese add column terms text collate "C" not null default '';
drop index cheese_by_status_and_name;
drop index cheese_by_status;
create index cheese_by_status_and_name on cheese (status, name, id, price, age);
create index cheese_by_status on cheese (status, id, price, age);
create index cheese_by_price on cheese (status, price, id, age);
create index cheese_by_age on cheese (status, age, id, price);

-- Price bands and ages have counters only, like prefixes.
alter table term drop constraint term_kind_check;
alter table term add constraint term_kind_check check (kind in (
  'catalogue', 'category', 'tag', 'origin', 'organic', 'missing', 'word', 'prefix', 'price_band', 'age'));
-- The name without case and accents, for categories, tags and origins.
alter table term add column folded text collate "C";
create index term_by_folded on term (kind, folded, id) where folded is not null;

-- price and age are null in postings of words, which have no order by price or age.
drop table cheese_term;
create table cheese_term (
  term_id bigint not null,
  cheese_id bigint not null,
  name text collate "C" not null,
  status text collate "C" not null,
  price double precision,
  age bigint,
  primary key (term_id, cheese_id)
);
create index cheese_term_by_name on cheese_term (term_id, name, cheese_id, status, price, age);
create index cheese_term_by_price on cheese_term (term_id, price, cheese_id, status, age) where price is not null;
create index cheese_term_by_age on cheese_term (term_id, age, cheese_id, status, price) where age is not null;

-- The search index is rebuilt after the migration.
alter table catalogue add column index_is_stale bigint not null default 0;
update catalogue set index_is_stale = 1 where last_cheese_id > 0;
