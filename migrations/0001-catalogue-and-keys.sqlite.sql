-- Accounts and their API keys. A key is kept as its SHA-256; the secret itself is shown once and never stored.
create table account (
  id integer primary key,
  name text not null,
  plan text not null,
  created_at text not null
);
create unique index account_name on account (name);

create table api_key (
  id integer primary key,
  account_id integer not null references account (id),
  type text not null check (type in ('live', 'test')),
  hash text not null,
  last4 text not null,
  scopes text not null,
  created_at text not null,
  expires_at text,
  revoked_at text,
  last_used_at text,
  replaced_by integer
);
create unique index api_key_hash on api_key (hash);
create index api_key_account on api_key (account_id);

-- One row. Whoever changes the catalogue updates it first and so holds its lock to the end of the transaction:
-- ids, creation times and counters are handed out in one order.
create table catalogue (
  id integer primary key check (id = 1),
  version integer not null,
  last_cheese_id integer not null,
  last_written_at text not null
);
insert into catalogue (id, version, last_cheese_id, last_written_at) values (1, 0, 0, '');

-- A cheese is the JSON that answers for it (body), with columns for what is constrained, sorted or searched.
create table cheese (
  id integer primary key,
  name text not null,
  name_key text not null,
  category_id integer not null,
  status text not null check (status in ('available', 'pending', 'sold')),
  search text not null,
  version integer not null,
  body text not null
);
create unique index cheese_name_in_category on cheese (category_id, name_key);
create index cheese_by_name on cheese (name, id);
create index cheese_by_status_and_name on cheese (status, name, id);
create index cheese_by_status on cheese (status, id);

-- Everything a cheese can be found by: its category, its tags, the words of its name. Prefixes of words are
-- here for their counters alone. Term 0 stands for the whole catalogue.
create table term (
  id integer primary key,
  kind text not null check (kind in ('catalogue', 'category', 'tag', 'word', 'prefix')),
  name text not null
);
create unique index term_name on term (kind, name);
insert into term (id, kind, name) values (0, 'catalogue', '');

create table cheese_term (
  term_id integer not null,
  cheese_id integer not null,
  name text not null,
  status text not null,
  primary key (term_id, cheese_id)
) without rowid;
create index cheese_term_by_name on cheese_term (term_id, name, cheese_id, status);

create table term_count (
  term_id integer not null,
  status text not null,
  cheeses integer not null,
  primary key (term_id, status)
) without rowid;

-- What happened, written in the transaction that made it happen.
create table event (
  id integer primary key,
  type text not null,
  subject text not null,
  actor text not null,
  request_id text,
  trace_id text,
  data text not null,
  created_at text not null
);

-- Answers to requests that carried an Idempotency-Key, sealed with the server's secret.
create table idempotent_answer (
  id text primary key,
  fingerprint text not null,
  sealed text not null,
  expires_at text not null
) without rowid;
create index idempotent_answer_expiry on idempotent_answer (expires_at);
