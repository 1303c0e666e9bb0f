-- `request` begins with half of `owner`: the responses of an owner are a range of its index, and a new response changes
-- one index in random order instead of two. Responses without an owner keep their ids.
drop index idempotent_answer_owner;
update idempotent_answer set request = substr(owner, 1, 16) || substr(request, 1, 16) where owner <> '';
