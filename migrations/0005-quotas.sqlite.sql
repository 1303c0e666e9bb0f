-- Requests of an account or a customer within the last hour, by minute: a JSON object of counts. A server writes here
-- what it is about to let through, before it does.
create table quota (
  subject text primary key,
  uses text not null,
  ends_at text not null
) without rowid;
create index quota_end on quota (ends_at);
