-- What an operator calls a key; null: it has no name.
alter table api_key add column name text collate "C";
