-- The folded names of a customer, in both orders, for the search. Null until the program has filled them.
alter table customer add column last_first text;
alter table customer add column first_last text;
create index customer_by_last_first on customer (last_first, id);
create index customer_by_first_last on customer (first_last, id);
create index customer_by_tier on customer (tier, id);
create index customer_staff on customer (id) where role = 'staff';
create index customer_without_names on customer (id) where last_first is null;

-- Links with which customers set a new password: at most one for each. Only the SHA-256 of its token is stored.
create table password_reset (
  customer_id integer primary key references customer (id),
  token_hash text not null,
  created_at text not null,
  created_by text not null,
  expires_at text not null
);
create unique index password_reset_token on password_reset (token_hash);
create index password_reset_expiry on password_reset (expires_at);
