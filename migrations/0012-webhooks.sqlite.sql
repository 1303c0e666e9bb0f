-- Webhooks. An endpoint is a URL that gets events. Its position is the number of the last event that was examined for it.
-- types: JSON, null for the types that every API key sees. secrets: JSON, sealed. pause_ms: the length of the last pause.
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
  version integer not null default 1,
  created_at text not null,
  updated_at text not null
);
create index webhook_endpoint_of_account on webhook_endpoint (account_id, id);

-- One event for one endpoint. An open delivery is waiting or sending. The open deliveries of one subject are a line: they
-- are sent in the order of their ids, and only the first has a background job. Rows of a deleted endpoint are removed by
-- maintenance.
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
create unique index webhook_delivery_once on webhook_delivery (endpoint_id, sequence) where kind = 'event';
create index webhook_delivery_list on webhook_delivery (endpoint_id, id);
create index webhook_delivery_line on webhook_delivery (endpoint_id, subject, id) where status in ('waiting', 'sending');
create index webhook_delivery_of_event on webhook_delivery (endpoint_id, event_id);
create index webhook_delivery_failed on webhook_delivery (endpoint_id, id) where status = 'failed';
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
