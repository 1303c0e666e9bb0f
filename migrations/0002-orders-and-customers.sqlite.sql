-- Customers. What people typed stands as typed; the *_key columns hold what uniqueness compares. Ids are never used
-- again, even after the newest customer was deleted.
create table customer (
  id integer primary key autoincrement,
  username text not null,
  username_key text not null,
  email text not null,
  email_key text not null,
  first_name text not null,
  last_name text not null,
  phone text,
  password text not null,
  role text not null default 'customer' check (role in ('customer', 'staff')),
  tier text not null check (tier in ('bronze', 'silver', 'gold', 'platinum')),
  delivered_cents integer not null default 0,
  favourite_id integer,
  favourite_name text,
  version integer not null default 1,
  created_at text not null
);
create unique index customer_username on customer (username_key);
create unique index customer_email on customer (email_key);
create index customer_favourite on customer (favourite_id) where favourite_id is not null;

-- Customers who are logged in, by the SHA-256 of their token. The row is the authority: no row, no session.
create table session (
  token_hash text primary key,
  customer_id integer not null references customer (id),
  created_at text not null,
  expires_at text not null
) without rowid;
create index session_customer on session (customer_id, created_at);
create index session_expiry on session (expires_at);

-- Failed logins by what they are counted under, as a hash: people type passwords where names belong.
create table login_failure (
  id text primary key,
  failures integer not null,
  ends_at text not null
) without rowid;
create index login_failure_end on login_failure (ends_at);

-- Orders keep what was ordered as it was then: later changes to a cheese do not reach them. The table is in the
-- plural because "order" is a word of SQL. Ids 1 to 10 belong to test orders.
create table orders (
  id integer primary key autoincrement,
  status text not null check (status in ('placed', 'approved', 'shipped', 'delivered', 'cancelled')),
  placed_by text not null,
  customer_id integer,
  items text not null,
  address text not null,
  notes text,
  total_cents integer not null,
  ship_date text,
  version integer not null default 1,
  created_at text not null,
  updated_at text not null
);
insert into sqlite_sequence (name, seq) values ('orders', 10);
create index orders_by_customer on orders (customer_id, id) where customer_id is not null;
create index orders_by_placer on orders (placed_by, id);
create index orders_by_status on orders (status, id);

-- Which cheeses are in orders that are still open (placed, approved or shipped).
create table open_order_cheese (
  cheese_id integer not null,
  order_id integer not null,
  primary key (cheese_id, order_id)
) without rowid;

-- Work that is due: placed orders that wait for their approval.
create table job (
  order_id integer primary key,
  due_at text not null,
  attempts integer not null default 0
);
create index job_due on job (due_at);

create index event_subject on event (subject, id);
