-- The whole schema on SQLite. Tables are grouped by the folder of `src` that owns them. Times are texts in UTC
-- ('2026-06-01T12:00:00.000Z'), money is in cents, truth values are 0 and 1. Long columns are last: SQLite reads a row
-- from its beginning. What PostgreSQL does in another way is explained in the file for PostgreSQL.

-- src/database

-- One row: what is known about the whole shop. The environment is that of its first start, and null before it.
create table shop (
  id integer primary key check (id = 1),
  environment text check (environment in ('local', 'sandbox', 'production')),
  last_backup_at text
);
insert into shop (id) values (1);

-- src/shop

-- One row: what the shop is, and what only its owner reads, as the JSON of their responses. The first start inserts it.
-- currency_fixed: an order was placed, whose amounts another currency would change.
create table shop_profile (
  id integer primary key check (id = 1),
  version integer not null default 1,
  currency_fixed integer not null default 0 check (currency_fixed in (0, 1)),
  body text not null,
  settings_version integer not null default 1,
  settings text not null
);

-- src/delivery

-- A way in which goods reach customers. body: JSON of the response without the id.
create table delivery_method (
  id integer primary key autoincrement,
  version integer not null default 1,
  body text not null
);

-- src/tax

-- A rate of tax where it applies. An empty text in country, state_key, zip_prefix or category_key: everywhere. The keys are
-- the forms in which texts are compared; state and category are as they were written.
create table tax_rate (
  id integer primary key autoincrement,
  version integer not null default 1,
  country text not null,
  state text,
  state_key text not null,
  zip_prefix text not null,
  category text,
  category_key text not null,
  milli_percent integer not null,
  name text not null
);
-- Finds the rates of a place, and refuses equal ones.
create unique index tax_rate_by_place on tax_rate (country, zip_prefix, state_key, category_key);

-- src/discounts

-- A code that takes something off an order. value: percent or cents. used: orders that have it and are not cancelled.
create table discount (
  id integer primary key autoincrement,
  code text not null,
  version integer not null default 1,
  kind text not null check (kind in ('percent', 'amount', 'free_delivery')),
  value integer,
  from_cents integer,
  starts_at text,
  ends_at text,
  uses_max integer,
  uses_per_customer integer,
  is_enabled integer not null default 1 check (is_enabled in (0, 1)),
  used integer not null default 0,
  created_at text not null
);
create unique index discount_by_code on discount (code);

-- An order that has a code and is not cancelled. customer_key: whose uses are counted together.
create table discount_use (
  order_id integer primary key,
  discount_id integer not null,
  customer_key text
) without rowid;
create index discount_use_by_customer on discount_use (discount_id, customer_key);

-- src/auth/keys

-- An account: the owner of API keys and OAuth applications.
create table account (
  id integer primary key autoincrement,
  name text not null,
  plan text not null,
  created_at text not null
);
-- Finds an account by its name, and refuses a second one.
create unique index account_name on account (name);

-- An API key. Only the SHA-256 of a secret is stored. name: what an operator calls it. limits: JSON. shown_key: a
-- publishable key, which is no secret. web_origin: a web page that used another key. first_id: the first of the restricted
-- keys that replaced each other, whose orders and budget they share; null for the first.
create table api_key (
  id integer primary key autoincrement,
  account_id integer not null references account (id),
  name text,
  kind text not null default 'secret' check (kind in ('secret', 'publishable', 'restricted')),
  type text not null check (type in ('live', 'test')),
  hash text not null,
  last4 text not null,
  scopes text not null,
  limits text not null default '{}',
  shown_key text,
  created_at text not null,
  expires_at text,
  revoked_at text,
  last_used_at text,
  web_origin text,
  web_origin_at text,
  replaced_by integer,
  first_id integer
);
-- Finds the key of a request.
create unique index api_key_hash on api_key (hash);
-- Lists and counts the keys of an account.
create index api_key_account on api_key (account_id);

-- What a restricted key spent on a UTC day, by the total of its orders, cancelled ones included.
create table key_spend (
  key_id integer not null references api_key (id),
  day text not null,
  cents integer not null,
  orders integer not null,
  primary key (key_id, day)
);

-- src/cheeses

-- One row. Each change of the catalogue updates it first, and so keeps its lock until the commit: ids, creation times
-- and versions are in one order. cheeses: the number of cheeses. tombstones_after: the version of the newest tombstone
-- that was removed. A reader that has not read up to it has missed a deletion.
create table catalogue (
  id integer primary key check (id = 1),
  version integer not null,
  cheeses integer not null default 0,
  last_cheese_id integer not null,
  last_written_at text not null,
  tombstones_after integer not null default 0
);
insert into catalogue (id, version, last_cheese_id, last_written_at) values (1, 0, 0, '');

-- A cheese: its response as JSON (body), with columns for what is constrained or locked. Lists are read from an index in
-- memory (src/cheeses/search-index). tracked: whether it has a row in the table stock, which an order learns from the row
-- that it locks. changed_in: the version of the catalogue at its last change.
create table cheese (
  id integer primary key,
  name_key text not null,
  category_id integer not null,
  status text not null check (status in ('available', 'pending', 'sold')),
  tracked integer not null default 0,
  version integer not null,
  changed_in integer not null default 0,
  body text not null
);
-- Refuses a second cheese of this name in the category, and finds the first.
create unique index cheese_name_in_category on cheese (category_id, name_key);
-- Pages of the list of changes, and what an index has not read.
create index cheese_by_change on cheese (changed_in, id);

-- A category or tag, whose id never changes. It stays when its last cheese is deleted.
create table term (
  id integer primary key autoincrement,
  kind text not null check (kind in ('category', 'tag')),
  name text not null,
  -- The form in which names are compared.
  name_key text not null
);
-- Finds the id of a term, and refuses a second one.
create unique index term_name on term (kind, name_key);

-- A deleted cheese, until CURD_TOMBSTONE_RETENTION has passed.
create table cheese_tombstone (
  cheese_id integer primary key,
  changed_in integer not null,
  deleted_at text not null
);
-- Pages of the list of changes, what an index has not read, and the removal of the oldest.
create index cheese_tombstone_by_change on cheese_tombstone (changed_in, cheese_id);

-- src/cheeses/prices

-- A price of a cheese per kilogram, from a time until that of its next row; null for no price. The newest
-- row has the current price. Rows that follow each other have different prices.
create table cheese_price (
  cheese_id integer not null,
  since text not null,
  price real,
  primary key (cheese_id, since)
) without rowid;

-- src/stock

-- The grams of a cheese whose stock is tracked. reserved: for orders that are placed or approved. set_sold: the
-- status sold was set because nothing was available, and has not been changed since. smallest: the smallest weight in
-- grams that an order can have. level: 0 where less is available,
-- 1 where the stock is low, and 2 otherwise, for the index: see the file for PostgreSQL.
create table stock (
  cheese_id integer primary key references cheese (id),
  on_hand integer not null check (on_hand >= 0),
  reserved integer not null check (reserved >= 0),
  low_at integer,
  smallest integer not null default 1000,
  set_sold integer not null default 0 check (set_sold in (0, 1)),
  version integer not null default 1,
  tracked_since text not null,
  level integer
    generated always as (
      case when on_hand - reserved < smallest then 0 when low_at is not null and on_hand - reserved <= low_at then 1 else 2 end
    ) virtual
);
-- Lists stock by its level, and counts the cheeses that are low.
create index stock_by_level on stock (level, cheese_id);

-- One row: the number of rows in the table stock.
create table stock_count (
  id integer primary key check (id = 1),
  tracked integer not null
);
insert into stock_count (id, tracked) values (1, 0);

-- src/images

-- The file of an image, named after its content, so that the same image is stored once. A row is inserted before its
-- file is written, and deleted after its file: after a crash, each file has a row. pending: nothing shows the file,
-- which may exist; deleting: the file is being deleted.
create table image_file (
  name text primary key,
  media_type text not null,
  bytes integer not null,
  state text not null check (state in ('pending', 'stored', 'deleting')),
  since text not null
) without rowid;
-- Finds files that nothing shows, to delete them.
create index image_file_loose on image_file (since) where state <> 'stored';

-- An image of a cheese, in the order of first uploads.
create table cheese_image (
  id integer primary key autoincrement,
  cheese_id integer not null references cheese (id),
  image_name text not null references image_file (name),
  thumbnail_name text not null references image_file (name),
  size integer not null,
  caption text,
  created_at text not null
);
-- Lists the images of a cheese, and refuses the same image twice.
create unique index cheese_image_once on cheese_image (cheese_id, image_name);
-- Find out whether a file is still used.
create index cheese_image_by_image on cheese_image (image_name);
create index cheese_image_by_thumbnail on cheese_image (thumbnail_name);

-- Files of images that a snapshot of the shop needs, and that are not deleted while it exists. Only outside of production.
create table image_file_pin (
  snapshot_id integer not null,
  name text not null,
  primary key (snapshot_id, name)
) without rowid;
-- Finds out whether a file may be deleted.
create index image_file_pin_name on image_file_pin (name);

-- src/customers

-- A customer. Texts are as they were typed; uniqueness compares the columns *_key. last_first, first_last: the folded
-- names in both orders, for the search. An id is never used again, not even that of the newest customer.
create table customer (
  id integer primary key autoincrement,
  username text not null,
  username_key text not null,
  email text not null,
  email_key text not null,
  first_name text not null,
  last_name text not null,
  last_first text not null,
  first_last text not null,
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
-- Find a customer at login and by the search, and refuse a second one.
create unique index customer_username on customer (username_key);
create unique index customer_email on customer (email_key);
-- Finds the customers whose favorite cheese is deleted.
create index customer_favourite on customer (favourite_id) where favourite_id is not null;
-- Find customers by the beginning of a name.
create index customer_by_last_first on customer (last_first, id);
create index customer_by_first_last on customer (first_last, id);
-- List the customers of a tier, and staff.
create index customer_by_tier on customer (tier, id);
create index customer_staff on customer (id) where role = 'staff';

-- A link with which a customer sets a new password: at most one for each. Only the SHA-256 of its token is stored.
create table password_reset (
  customer_id integer primary key references customer (id),
  token_hash text not null,
  created_at text not null,
  created_by text not null,
  expires_at text not null
);
-- Finds the link that was opened.
create unique index password_reset_token on password_reset (token_hash);
-- Deletes expired links.
create index password_reset_expiry on password_reset (expires_at);

-- Failed logins under a username or from a client IP. The id is a digest, because people type passwords in place of
-- names. running: attempts whose password is being checked, which count until running_until if no result is recorded.
-- next_at: while a username is slowed down, when its next attempt may run.
create table login_failure (
  id text primary key,
  failures integer not null,
  ends_at text not null,
  running integer not null default 0,
  running_until text not null default '',
  next_at text not null default ''
) without rowid;
-- Deletes counts that have ended.
create index login_failure_end on login_failure (ends_at);

-- A network from which a customer has logged in within 30 days, as a digest. Failed logins of others do not slow it
-- down.
create table login_network (
  customer_id integer not null references customer (id),
  network text not null,
  seen_at text not null,
  primary key (customer_id, network)
) without rowid;
-- Deletes networks that were not seen for 30 days.
create index login_network_seen on login_network (seen_at);

-- src/auth/sessions

-- A session of a customer, by the SHA-256 of its token. Without a row, a token is not valid.
create table session (
  token_hash text primary key,
  customer_id integer not null references customer (id),
  created_at text not null,
  expires_at text not null
) without rowid;
-- Ends all sessions of a customer but the newest.
create index session_customer on session (customer_id, created_at);
-- Deletes expired sessions.
create index session_expiry on session (expires_at);

-- src/auth/oauth

-- An OAuth application of an account. secret_hash: SHA-256; null: it is public. grants and scopes are separated by
-- spaces, redirect_uris is a JSON array.
create table oauth_client (
  id text primary key,
  account_id integer not null references account (id),
  name text not null,
  secret_hash text,
  redirect_uris text not null,
  grants text not null,
  scopes text not null,
  is_native integer not null check (is_native in (0, 1)),
  created_at text not null
) without rowid;

-- A code, token, grant, browser session or unfinished login of the authorization server. The id is the SHA-256 of what
-- the client or the browser has, which is in no column.
create table oauth_object (
  model text not null,
  id text not null,
  payload text not null,
  grant_id text,
  uid text,
  customer_id integer,
  client_id text,
  scope text,
  -- The URL of the resource for which a token was requested. Null: the API.
  audience text,
  consumed_at text,
  expires_at text not null,
  primary key (model, id)
) without rowid;
-- Delete what belongs to a grant, a customer or an application.
create index oauth_object_grant on oauth_object (grant_id) where grant_id is not null;
create index oauth_object_customer on oauth_object (customer_id) where customer_id is not null;
create index oauth_object_client on oauth_object (client_id) where client_id is not null;
-- Finds a browser session by the uid that its login has.
create index oauth_object_uid on oauth_object (uid) where uid is not null;
-- Deletes expired objects.
create index oauth_object_expiry on oauth_object (expires_at);

-- The decision whether a customer may have the scope admin through an application. Customer 0: the application itself.
create table admin_approval (
  id integer primary key autoincrement,
  client_id text not null,
  customer_id integer not null,
  status text not null check (status in ('pending', 'approved', 'denied', 'revoked')),
  requested_at text not null,
  decided_at text,
  decided_by text,
  expires_at text
);
-- Finds the decision for a request or a token, and refuses a second one.
create unique index admin_approval_pair on admin_approval (client_id, customer_id);

-- src/orders

-- An order, with its items as they were when it was placed. The name is in the plural because "order" is a word of SQL.
-- Ids 1 to 10 are test orders. needs_approval: an operator approves it, because a cheese has no price; no job does.
-- was_first: set when the customer is deleted, 1 for their first order and 0 for the others; null in other orders.
create table orders (
  id integer primary key autoincrement,
  status text not null check (status in ('placed', 'approved', 'shipped', 'delivered', 'cancelled')),
  placed_by text not null,
  customer_id integer,
  items text not null,
  address text not null,
  notes text,
  total_cents integer not null,
  goods_cents integer not null,
  breakdown text,
  -- JSON of the days of the delivery method, and of the requested one.
  delivery text,
  gift text,
  ship_date text,
  needs_approval integer not null default 0,
  was_first integer,
  version integer not null default 1,
  created_at text not null,
  updated_at text not null,
  -- Taken from the address: JSON without spaces, in which a quote within a text follows a backslash.
  country text generated always as (
    case when instr(address, '"country":"') > 0 then substr(address, instr(address, '"country":"') + 11, 2) end
  ) virtual
);
insert into sqlite_sequence (name, seq) values ('orders', 10);
-- Pages of lists are sorted by (created_at, id). Ids do not follow the creation times where a clock was set back, and
-- where several instances place orders.
create index orders_by_created on orders (created_at, id);
create index orders_by_placer on orders (placed_by, created_at, id);
create index orders_by_customer on orders (customer_id, created_at, id) where customer_id is not null;
create index orders_by_country on orders (country, created_at, id);
-- Pages of orders in a status. Nearly all orders are delivered, and need no entry: their lists read orders_by_created.
create index orders_by_status on orders (status, created_at, id) where status <> 'delivered';
-- Pages and counts of orders that an operator approves.
create index orders_needing_approval on orders (created_at, id) where needs_approval = 1 and status = 'placed';
-- Pages and counts of orders that should have been shipped already, sorted by their creation.
create index orders_to_ship on orders (ship_date, created_at, id) where status = 'approved';

-- A cheese of an open order (placed, approved or shipped). reserved: grams that are reserved for the order; 0
-- where the stock is not tracked, and after shipping.
create table open_order_cheese (
  cheese_id integer not null,
  order_id integer not null,
  reserved integer not null default 0,
  primary key (cheese_id, order_id)
) without rowid;

-- How an order is shipped, as an operator stated it. Without a row, nothing was stated.
create table shipment (
  order_id integer primary key,
  carrier text,
  tracking_number text,
  tracking_url text,
  version integer not null default 1
);

-- How many orders an owner has in each status. Owners: all orders ('*'), a customer ('customer:7'), a country of
-- shipping addresses ('country:CH'), and a key or an application without a customer, by the id of its principal. One row
-- for each day of creation in UTC, and one for all days (''). Test orders are not counted.
create table order_count (
  owner text not null,
  day text not null,
  placed integer not null,
  approved integer not null,
  shipped integer not null,
  delivered integer not null,
  cancelled integer not null,
  primary key (owner, day)
) without rowid;

-- A change that is not yet in order_count. Triggers insert it, so that the counts include orders of other versions and
-- of commands. A new order has no old status. An order that is deleted or gets another owner has no new one.
create table order_count_change (
  id integer primary key,
  day text not null,
  placed_by text not null,
  customer_id integer,
  country text,
  old_status text,
  new_status text
);

create trigger order_inserted after insert on orders when new.id >= 11 begin
  insert into order_count_change (day, placed_by, customer_id, country, new_status)
  values (substr(new.created_at, 1, 10), new.placed_by, new.customer_id, new.country, new.status);
end;
create trigger order_status_changed after update of status on orders
when new.id >= 11 and new.status <> old.status and new.customer_id is old.customer_id and new.placed_by = old.placed_by
  and new.created_at = old.created_at and new.country is old.country begin
  insert into order_count_change (day, placed_by, customer_id, country, old_status, new_status)
  values (substr(new.created_at, 1, 10), new.placed_by, new.customer_id, new.country, old.status, new.status);
end;
create trigger order_owner_changed after update of customer_id, placed_by, created_at, address on orders
when new.id >= 11 and (new.customer_id is not old.customer_id or new.placed_by <> old.placed_by
  or new.created_at <> old.created_at or new.country is not old.country) begin
  insert into order_count_change (day, placed_by, customer_id, country, old_status, new_status)
  values (substr(old.created_at, 1, 10), old.placed_by, old.customer_id, old.country, old.status, null),
    (substr(new.created_at, 1, 10), new.placed_by, new.customer_id, new.country, null, new.status);
end;
create trigger order_deleted after delete on orders when old.id >= 11 begin
  insert into order_count_change (day, placed_by, customer_id, country, old_status)
  values (substr(old.created_at, 1, 10), old.placed_by, old.customer_id, old.country, old.status);
end;

-- src/notes

-- A note of an operator, about an order or else about a customer. customer_id: that customer, or the one of the order,
-- with whom the note is deleted.
create table staff_note (
  id integer primary key autoincrement,
  order_id integer,
  customer_id integer,
  author text not null,
  body text not null,
  created_at text not null
);
-- Lists the notes about an order.
create index staff_note_of_order on staff_note (order_id, id) where order_id is not null;
-- Lists the notes about a customer.
create index staff_note_of_customer on staff_note (customer_id, id) where order_id is null;
-- Deletes the notes of a customer.
create index staff_note_by_customer on staff_note (customer_id) where customer_id is not null;

-- src/jobs

-- A background job. lane and leased_until are for kinds whose work leaves the database. early_attempts: of the attempts,
-- those that were made before they were due. parked_at: it has failed too often.
create table background_job (
  kind text not null,
  key text not null,
  lane text not null default '',
  payload text not null default '{}',
  due_at text not null,
  attempts integer not null default 0,
  last_error text,
  leased_until text,
  early_attempts integer not null default 0,
  parked_at text,
  primary key (kind, key)
) without rowid;
-- Finds the jobs of a kind and lane that are due.
create index background_job_due on background_job (kind, lane, due_at);
-- Finds leases, which workers renew.
create index background_job_leased on background_job (kind, lane) where leased_until is not null;

-- src/event-log

-- An event, inserted in the transaction of its change. sequence: its number in the event log, from 1 without gaps; 0:
-- it is of a test order, and not in the log; null: it waits for its number, which happens on PostgreSQL alone.
create table event (
  id integer primary key,
  type text not null,
  subject text not null,
  actor text not null,
  request_id text,
  trace_id text,
  data text not null,
  created_at text not null,
  sequence integer
);
-- Lists the events of a subject.
create index event_subject on event (subject, id);
-- Reads the log in its order.
create unique index event_sequence on event (sequence) where sequence > 0;
-- Finds the events of a request.
create index event_request on event (request_id) where request_id is not null;
-- Finds the events that wait for their number.
create index event_waiting on event (id) where sequence is null;

-- One row: the first and the last number of the event log. The other columns are used on PostgreSQL alone.
create table event_log (
  id integer primary key check (id = 1),
  last integer not null,
  first integer not null,
  passed_ms integer not null,
  identity text not null,
  floor_id integer not null,
  mark_xid integer not null,
  mark_id integer not null
);
insert into event_log (id, last, first, passed_ms, identity, floor_id, mark_xid, mark_id)
values (1, 0, 1, 0, '', 0, 0, 0);

-- An epoch of the event log. A new one begins where the log may have lost events: after a restored backup, a copy, a
-- reset or a failover.
create table event_epoch (
  name text primary key,
  first_sequence integer not null,
  cause text not null,
  began_at text not null
);

-- src/webhooks

-- A webhook endpoint: a URL that receives events. position: the number of the last event that was examined for it.
-- types: JSON, null for the types that every API key sees. secrets: JSON, encrypted. pause_ms: the length of the last
-- pause. test_pings: times of the last test pings, as JSON in milliseconds since the epoch, because five a minute are
-- permitted.
create table webhook_endpoint (
  id integer primary key autoincrement,
  account_id integer not null references account (id),
  url text not null,
  types text,
  description text,
  secrets text not null,
  status text not null check (status in ('enabled', 'disabled')),
  disabled_reason text,
  position integer not null,
  last_event_id text,
  failing_since text,
  failures_in_row integer not null default 0,
  paused_until text,
  pause_ms integer not null default 0,
  test_pings text not null default '[]',
  version integer not null default 1,
  created_at text not null,
  updated_at text not null
);
-- Lists and counts the endpoints of an account.
create index webhook_endpoint_of_account on webhook_endpoint (account_id, id);

-- A delivery: one event for one endpoint. Open deliveries are waiting or sending. Those of one subject are sent in the
-- order of their ids, and only the first has a background job. Maintenance deletes the rows of a deleted endpoint.
create table webhook_delivery (
  id integer primary key autoincrement,
  endpoint_id integer not null,
  sequence integer not null,
  event_id text not null,
  type text not null,
  subject text not null,
  previous_id text,
  kind text not null check (kind in ('event', 'replay')),
  status text not null check (status in ('waiting', 'sending', 'delivered', 'failed')),
  attempts integer not null default 0,
  last_status integer,
  last_error text,
  created_at text not null,
  ended_at text
);
-- Refuses a second delivery of an event.
create unique index webhook_delivery_once on webhook_delivery (endpoint_id, sequence) where kind = 'event';
-- Pages of the deliveries of an endpoint, of those of an event, and of failed ones.
create index webhook_delivery_list on webhook_delivery (endpoint_id, id);
create index webhook_delivery_of_event on webhook_delivery (endpoint_id, event_id);
create index webhook_delivery_failed on webhook_delivery (endpoint_id, id) where status = 'failed';
-- Finds the first open delivery of each subject.
create index webhook_delivery_line on webhook_delivery (endpoint_id, subject, id)
  where status in ('waiting', 'sending');
-- Deletes deliveries whose retention has passed.
create index webhook_delivery_ended on webhook_delivery (ended_at) where ended_at is not null;

-- One request of a delivery. Without a duration: it runs, or the server stopped before the result was known.
create table webhook_attempt (
  delivery_id integer not null,
  number integer not null,
  at text not null,
  duration_ms integer,
  status integer,
  error text,
  response text,
  primary key (delivery_id, number)
) without rowid;

-- src/edge

-- A cache that "curd edge run" purges. Events up to position are purged; epoch: the newest epoch of the event log then.
create table edge_purger (
  purge_url text primary key,
  position text not null,
  epoch text not null,
  updated_at text not null
) without rowid;

-- src/statistics

-- A figure of a quarter of an hour in UTC ('2026-06-01T10:15'), the largest unit that all time zones have in common.
create table statistic (
  measure text not null,
  quarter text not null,
  value integer not null,
  primary key (measure, quarter)
) without rowid;

-- What was ordered of a cheese on a day in UTC, without orders that were cancelled later. name: in the last of them.
create table statistic_cheese (
  day text not null,
  cheese_id integer not null,
  name text not null,
  orders integer not null,
  grams integer not null,
  cents integer not null,
  primary key (day, cheese_id)
) without rowid;
-- Sums of single cheeses, and their last names.
create index statistic_cheese_by_cheese on statistic_cheese (cheese_id, day);

-- What was ordered on a day in UTC, without orders that were cancelled later, by the country of the shipping address and
-- by who ordered: a customer for the first time, a customer again, or a key or an application without a customer.
create table statistic_sale (
  day text not null,
  country text not null,
  customer text not null check (customer in ('new', 'returning', 'none')),
  orders integer not null,
  cents integer not null,
  primary key (day, country, customer)
) without rowid;

-- One row, once counting has begun. sequence: the last event of the log that is counted. history_id: the last row of
-- the table event that is counted of those up to that number; null once all of them are. customers_from: the quarter
-- from which the log still has all events of customers.
create table statistic_position (
  id integer primary key check (id = 1),
  sequence integer not null,
  history_id integer,
  customers_from text not null
);

-- src/mail

-- One row: how far mails were made of the event log. position: the number of the last event that was examined; null where
-- mails begin with the next event. is_paused: 1 in a shop that was copied or restored, until an operator confirms it.
create table mail_reader (
  id integer primary key check (id = 1),
  position integer,
  is_paused integer not null default 0
);
insert into mail_reader (id, position) values (1, null);

-- A mail to a customer, without address and text. sequence and event_id: the event that caused it, if one did. expires_at:
-- when it is too late to send it. recipient: a keyed hash of the address, kept for an hour after counted_at, because an
-- address gets a limited number of mails. sealed_address: the encrypted address, where it is not the one of the customer.
create table mail (
  id integer primary key autoincrement,
  name text not null,
  state text not null check (state in ('waiting', 'sent', 'dropped', 'failed')),
  customer_id integer not null,
  order_id integer,
  sequence integer,
  event_id text,
  attempts integer not null default 0,
  reason text,
  created_at text not null,
  expires_at text not null,
  ended_at text,
  counted_at text,
  recipient text,
  sealed_address text
);
-- Refuses a second mail for an event.
create unique index mail_once on mail (event_id, name, customer_id) where event_id is not null;
-- Pages of the list by state, customer and order.
create index mail_by_state on mail (state, id);
create index mail_by_customer on mail (customer_id, id);
create index mail_by_order on mail (order_id, id) where order_id is not null;
-- Counts the mails of an address, and finds the hashes that are too old.
create index mail_by_recipient on mail (recipient, counted_at) where recipient is not null;
-- Deletes mails that ended long ago.
create index mail_by_end on mail (ended_at) where ended_at is not null;

-- src/limits

-- Requests of an account or a customer within the last hour, by minute: a JSON object of counts. A server adds what it
-- will let through before it does.
create table quota (
  subject text primary key,
  uses text not null,
  ends_at text not null
) without rowid;
-- Deletes counts that have ended.
create index quota_end on quota (ends_at);

-- src/stored-responses

-- The response to a request with an Idempotency-Key, encrypted where it may contain a secret or data of a customer.
-- The rows are in the order of insertion: in the order of a digest, each insert changed another page of long rows.
-- owner: a digest of principal and key. request: half of owner, then a digest of principal, method, path and key.
create table stored_response (
  id integer primary key,
  request text not null,
  owner text not null,
  fingerprint text not null,
  method text not null,
  path text not null,
  request_id text not null,
  created_at text not null,
  expires_at text not null,
  response text not null
);
-- Finds the response of a request, refuses a second one, and lists the responses of an owner, which are a range.
create unique index stored_response_request on stored_response (request);
-- Deletes expired responses.
create index stored_response_expiry on stored_response (expires_at);

-- src/request-log

-- A request that the request log keeps for 24 hours. owner: account:<id>, customer:<id>, or empty for a request without a
-- valid credential. customer_id: the customer for whom the request acted. facts: JSON, without text of the request.
create table request (
  id integer primary key,
  request_id text not null,
  owner text not null,
  customer_id integer,
  credential text,
  at text not null,
  method text not null,
  route text,
  status integer not null,
  error text,
  facts text not null
);
-- Finds requests by the id that X-Request-Id has.
create index request_request_id on request (request_id);
-- Lists the requests of an owner, and finds the oldest of too many.
create index request_owner on request (owner, id);
-- Deletes the requests of a customer.
create index request_customer on request (customer_id) where customer_id is not null;

-- src/operations

-- A server process. It updates its row once a minute, and deletes it when it stops. images: where it stores images.
create table instance (
  id text primary key,
  version text not null,
  started_at text not null,
  seen_at text not null,
  images text not null
) without rowid;

-- A result of "curd doctor", as JSON. The last 30 are kept.
create table doctor_run (
  id integer primary key autoincrement,
  at text not null,
  seconds integer not null,
  result text not null
);

-- src/sandbox

-- One row: the state of a shop that is not in production. advanced_ms: how far its clock was moved ahead of the clocks of
-- the machines. resets: how often it was set back to them. advanced_by: the process that moves it now, until
-- advancing_until, which is a time of the machines in milliseconds since the epoch; it renews that. restores: how often a
-- snapshot was restored. busy_until: while the shop is reset, copied or restored, and at the latest until this time; else
-- empty.
create table test_state (
  id integer primary key check (id = 1),
  resets integer not null default 0,
  advanced_ms integer not null default 0,
  advanced_by text,
  advancing_until integer not null default 0,
  restores integer not null default 0,
  busy_until text not null default ''
);
insert into test_state (id) values (1);

-- Where a request with an Idempotency-Key moves the clock to, stored before it begins: the same request continues after a
-- crash. id: a digest of principal and key. advance: the request, as JSON. target: a time in milliseconds since the epoch,
-- or how far the clock is then ahead of the machines.
create table clock_target (
  id text primary key,
  advance text not null,
  target integer not null,
  expires_at text not null
) without rowid;
-- Deletes expired targets.
create index clock_target_expiry on clock_target (expires_at);

-- src/sandbox/snapshots

-- A snapshot of the shop. place: the name of its file, or of its schema on PostgreSQL. last_ids: JSON, the last ids that
-- its tables had given. migration: the newest one at that time. advanced_ms: how far the clock was ahead.
create table snapshot (
  id integer primary key autoincrement,
  name text not null,
  place text not null,
  bytes integer not null,
  last_ids text not null,
  migration integer not null,
  advanced_ms integer not null,
  created_at text not null
);
