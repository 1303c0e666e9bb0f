-- Applications of partners. A secret is kept as its SHA-256; one without is public. Lists are separated by blanks,
-- redirect addresses are a JSON array.
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

-- What the authorization server keeps: codes, tokens, grants, its own browser sessions, logins and consents under way.
-- The id is the SHA-256 of what the client or the browser holds, which stands nowhere in the row.
create table oauth_object (
  model text not null,
  id text not null,
  payload text not null,
  grant_id text,
  uid text,
  customer_id integer,
  client_id text,
  scope text,
  consumed_at text,
  expires_at text not null,
  primary key (model, id)
) without rowid;
create index oauth_object_grant on oauth_object (grant_id) where grant_id is not null;
create index oauth_object_uid on oauth_object (uid) where uid is not null;
create index oauth_object_customer on oauth_object (customer_id) where customer_id is not null;
create index oauth_object_client on oauth_object (client_id) where client_id is not null;
create index oauth_object_expiry on oauth_object (expires_at);

-- Who may be given the scope admin through which application. Customer 0 stands for the application itself.
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
create unique index admin_approval_pair on admin_approval (client_id, customer_id);
