-- Attempts whose password is being checked, and until when they count if no result is recorded. While a username is
-- slowed down, next_at is when its next attempt may run.
alter table login_failure add column running integer not null default 0;
alter table login_failure add column running_until text not null default '';
alter table login_failure add column next_at text not null default '';
