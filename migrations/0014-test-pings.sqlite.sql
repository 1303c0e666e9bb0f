-- Times of the last test pings of an endpoint, as JSON in milliseconds since the epoch: five a minute are permitted.
alter table webhook_endpoint add column test_pings text not null default '[]';
