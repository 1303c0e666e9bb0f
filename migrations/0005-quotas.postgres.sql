-- Requests of an account or a customer within the last hour, by minute: a JSON object of counts. A server writes here
-- what it is about to let through, before it does.
create table quota (
  subject text collate "C" primary key,
  uses text collate "C" not null,
  ends_at text collate "C" not null
);
create index quota_end on quota (ends_at);
