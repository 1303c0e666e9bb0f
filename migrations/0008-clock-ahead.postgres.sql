-- What was counted while a clock was ahead by more than the window no longer counts.
--
-- Counts by time, in order, later than `since` and not later than `until`.
create function quota_within(
  times bigint[], counts integer[], since bigint, until bigint,
  out kept_times bigint[], out kept_counts integer[], out total integer
)
language sql immutable as $$
  select coalesce(array_agg(t order by t), '{}'), coalesce(array_agg(c order by t), '{}'), coalesce(sum(c), 0)::integer
  from (
    select t, sum(c)::integer as c from unnest(times, counts) as u (t, c)
    where t > since and t <= until group by t
  ) as kept
$$;

-- Counts calls, as many of each request as its limits permit. A request is [subject, calls, limit of a second, limit of
-- an hour (null: none), calls given back, the minute's end they were counted under]. Answers one row for each, in the
-- order of their places: how many passed, what counts now, and until when it does.
-- The time is the database's, so that servers whose clocks differ agree, unless one is told.
create or replace function count_calls(requests jsonb, told_now bigint)
returns table (
  place integer, passed integer, now_ms bigint, minute_ends bigint,
  in_second integer, second_until bigint, in_hour integer, hour_until bigint
)
language plpgsql as $$
declare
  request record;
  told bigint;
  held quota;
  newest integer;
begin
  -- What a crash of the database would lose was counted some milliseconds before: not worth a disk's time.
  perform set_config('synchronous_commit', 'off', true);
  for request in
    select ordinality::integer as place, value->>0 as subject, (value->>1)::integer as calls,
      (value->>2)::integer as burst, (value->>3)::integer as per_hour,
      (value->>4)::integer as given_back, (value->>5)::bigint as given_to
    from jsonb_array_elements(requests) with ordinality
    -- Rows are locked in one order, whoever comes.
    order by subject
  loop
    insert into quota (subject) values (request.subject) on conflict (subject) do nothing;
    select * into held from quota where quota.subject = request.subject for update;

    -- A clock that was put back stands still, for a second at most.
    told := coalesce(told_now, floor(extract(epoch from clock_timestamp()) * 1000)::bigint);
    select greatest(told, max(t)) into now_ms from unnest(held.second_times) as u (t) where t <= told + 1000;
    minute_ends := (now_ms / 60000 + 1) * 60000;
    select * into held.second_times, held.second_counts, in_second
      from quota_within(held.second_times, held.second_counts, now_ms - 1000, now_ms);
    select * into held.hour_times, held.hour_counts, in_hour
      from quota_within(held.hour_times, held.hour_counts, now_ms - 3600000, now_ms + 3600000);

    newest := cardinality(held.hour_times);
    if held.hour_times[newest] = request.given_to then
      held.hour_counts[newest] := held.hour_counts[newest] - request.given_back;
      in_hour := in_hour - request.given_back;
    end if;

    passed := greatest(0, least(request.calls, request.burst - in_second, request.per_hour - in_hour));
    if passed > 0 then
      in_second := in_second + passed;
      newest := cardinality(held.second_times);
      if held.second_times[newest] / 20 = now_ms / 20 then
        held.second_times[newest] := now_ms;
        held.second_counts[newest] := held.second_counts[newest] + passed;
      else
        held.second_times := held.second_times || now_ms;
        held.second_counts := held.second_counts || passed;
      end if;
      if request.per_hour is not null then
        in_hour := in_hour + passed;
        newest := cardinality(held.hour_times);
        if held.hour_times[newest] = minute_ends then
          held.hour_counts[newest] := held.hour_counts[newest] + passed;
        else
          held.hour_times := held.hour_times || minute_ends;
          held.hour_counts := held.hour_counts || passed;
        end if;
      end if;
    end if;
    update quota
      set second_times = held.second_times, second_counts = held.second_counts,
        hour_times = held.hour_times, hour_counts = held.hour_counts
      where quota.subject = request.subject;

    place := request.place;
    second_until := now_ms;
    if in_second >= request.burst then
      second_until := quota_excess_at(held.second_times, held.second_counts, in_second - request.burst) + 1000;
    end if;
    hour_until := 3600000 + coalesce(
      quota_excess_at(held.hour_times, held.hour_counts, greatest(0, in_hour - request.per_hour)), now_ms - 3600000
    );
    return next;
  end loop;
end
$$;
