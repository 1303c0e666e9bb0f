-- Networks from which a customer has logged in within 30 days, as digests: they are not slowed down by the failed logins
-- of others.
create table login_network (
  customer_id bigint not null references customer (id),
  network text collate "C" not null,
  seen_at text collate "C" not null,
  primary key (customer_id, network)
);
create index login_network_seen on login_network (seen_at);
