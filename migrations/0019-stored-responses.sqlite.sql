-- Stored responses in the order of insertion: in the order of a hash, each insert changed another page of long rows.
-- `request` identifies scope, method, path and key, `owner` scope and key. Older responses have no owner: they are still
-- replayed, and expire within 24 hours.
create table stored_response (
  id integer primary key,
  request text not null,
  owner text not null,
  fingerprint text not null,
  method text not null,
  path text not null,
  request_id text not null,
  sealed text not null,
  created_at text not null,
  expires_at text not null
);
insert into stored_response (request, owner, fingerprint, method, path, request_id, sealed, created_at, expires_at)
select substr(id, 1, 32), '', fingerprint, '', '', '', sealed, '', expires_at
from idempotent_answer order by expires_at;
drop table idempotent_answer;
alter table stored_response rename to idempotent_answer;
create unique index idempotent_answer_request on idempotent_answer (request);
create index idempotent_answer_owner on idempotent_answer (owner, created_at);
create index idempotent_answer_expiry on idempotent_answer (expires_at);
