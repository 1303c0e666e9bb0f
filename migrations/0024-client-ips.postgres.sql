-- Counts logins and registrations by client IP, for all servers together, within the last minute and by the second. They
-- are rows of the table quota: hour_times are the starts of seconds, and the other columns are empty.
--
-- A request is [subject, requests, limit, the second in which it was counted as one before]. A request passes if, with
-- the others, it is within the limit, or if there are no others. A request that is refused counts nothing. Returns one
-- row for each, in the order of their places: whether it passed, the second in which it was counted, and until when
-- another request is refused.
create function count_client_ips(requests jsonb, told_now bigint)
returns table (place integer, passed integer, slot bigint, wait_ms bigint)
language plpgsql as $$
declare
  request record;
  held quota;
  told bigint;
  counted integer;
  own integer;
  permitted integer;
begin
  -- What a crash of the database would lose was counted some milliseconds before: not worth a disk's time.
  perform set_config('synchronous_commit', 'off', true);
  for request in
    select ordinality::integer as place, value->>0 as subject, (value->>1)::integer as requests,
      (value->>2)::integer as most, (value->>3)::bigint as counted_in
    from jsonb_array_elements(requests) with ordinality
    -- Rows are locked in one order by all servers.
    order by subject, ordinality
  loop
    insert into quota (subject) values (request.subject) on conflict (subject) do nothing;
    select * into held from quota where quota.subject = request.subject for update;

    told := coalesce(told_now, floor(extract(epoch from clock_timestamp()) * 1000)::bigint);
    -- A clock that was put back stands still, for a minute at most. What was counted further ahead no longer counts.
    slot := told / 1000 * 1000;
    select greatest(slot, max(t)) into slot from unnest(held.hour_times) as u (t) where t <= slot + 60000;
    select * into held.hour_times, held.hour_counts, counted
      from quota_within(held.hour_times, held.hour_counts, slot - 61000, slot);
    own := (request.counted_in is not null and request.counted_in = any (held.hour_times))::integer;
    permitted := greatest(0, request.most - request.requests);

    place := request.place;
    passed := (counted - own <= permitted)::integer;
    if passed = 1 then
      select * into held.hour_times, held.hour_counts, counted
        from quota_within(held.hour_times || slot, held.hour_counts || (request.requests - own), slot - 61000, slot);
      permitted := request.most - 1;
    elsif own = 1 then
      select * into held.hour_times, held.hour_counts, counted
        from quota_within(held.hour_times || request.counted_in, held.hour_counts || -1, slot - 61000, slot);
    end if;
    if passed = 1 or own = 1 then
      update quota set hour_times = held.hour_times, hour_counts = held.hour_counts
        where quota.subject = request.subject;
    end if;
    wait_ms := case when counted > permitted
      then quota_excess_at(held.hour_times, held.hour_counts, counted - permitted - 1) + 61000 - told else 0 end;
    return next;
  end loop;
end
$$;
