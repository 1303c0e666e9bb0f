-- Filters, sorts and counts of the catalogue. -1: the cheese has no price or no age.
alter table cheese add column price real not null default -1;
alter table cheese add column age integer not null default -1;
-- Ids of the terms that facets count: category, tags, origin, organic.
alter table cheese add column terms text not null default '';
drop index cheese_by_status_and_name;
drop index cheese_by_status;
create index cheese_by_status_and_name on cheese (status, name, id, price, age);
create index cheese_by_status on cheese (status, id, price, age);
create index cheese_by_price on cheese (status, price, id, age);
create index cheese_by_age on cheese (status, age, id, price);

-- Price bands and ages have counters only, like prefixes.
create table new_term (
  id integer primary key,
  kind text not null check (kind in (
    'catalogue', 'category', 'tag', 'origin', 'organic', 'missing', 'word', 'prefix', 'price_band', 'age')),
  name text not null,
  -- The name without case and accents, for categories, tags and origins.
  folded text
);
insert into new_term (id, kind, name) select id, kind, name from term;
drop table term;
alter table new_term rename to term;
create unique index term_name on term (kind, name);
create index term_by_folded on term (kind, folded, id) where folded is not null;

-- price and age are null in postings of words, which have no order by price or age.
drop table cheese_term;
create table cheese_term (
  term_id integer not null,
  cheese_id integer not null,
  name text not null,
  status text not null,
  price real,
  age integer,
  primary key (term_id, cheese_id)
) without rowid;
create index cheese_term_by_name on cheese_term (term_id, name, cheese_id, status, price, age);
create index cheese_term_by_price on cheese_term (term_id, price, cheese_id, status, age) where price is not null;
create index cheese_term_by_age on cheese_term (term_id, age, cheese_id, status, price) where age is not null;

-- The search index is rebuilt after the migration.
alter table catalogue add column index_is_stale integer not null default 0;
update catalogue set index_is_stale = 1 where last_cheese_id > 0;
