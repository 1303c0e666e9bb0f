-- Counts requests as before, in half of the CPU time: the usual case needs no query on the arrays. The times in both arrays
-- of a row are in ascending order.
--
-- A request is [subject, requests, limit of a second, limit of an hour (null: none), refunds, the end of the minute in
-- which the refunded requests were counted]. Returns one row for each, in any order: how many passed, what counts now,
-- and until when. The time is the database's, so that servers whose clocks differ agree, unless `told_now` is given.
create or replace function count_calls(requests jsonb, told_now bigint)
returns table (
  place integer, passed integer, now_ms bigint, minute_ends bigint,
  in_second integer, second_until bigint, in_hour integer, hour_until bigint
)
language plpgsql as $$
declare
  setting text;
  places integer[] := '{1}';
  request jsonb;
  subject_of_request text;
  burst integer;
  per_hour integer;
  held quota;
  newest integer;
  oldest integer;
  counted integer;
  excess integer;
begin
  -- What a crash of the database would lose was counted some milliseconds before: not worth a write to disk.
  setting := set_config('synchronous_commit', 'off', true);
  if jsonb_array_length(requests) <> 1 then
    -- All transactions lock rows in the order of subjects.
    places := array(
      select ordinality from jsonb_array_elements(requests) with ordinality order by (value->>0) collate "C"
    );
  end if;
  foreach place in array places loop
    request := requests->(place - 1);
    subject_of_request := request->>0;
    burst := (request->>2)::integer;
    per_hour := (request->>3)::integer;
    select * into held from quota where quota.subject = subject_of_request for update;
    if not found then
      insert into quota (subject) values (subject_of_request) on conflict (subject) do nothing;
      select * into held from quota where quota.subject = subject_of_request for update;
    end if;

    now_ms := coalesce(told_now, floor(extract(epoch from clock_timestamp()) * 1000)::bigint);
    newest := cardinality(held.second_times);
    if held.second_times[newest] > now_ms then
      -- A clock that was put back stands still, for a second at most.
      select greatest(now_ms, max(t)) into now_ms from unnest(held.second_times) as u (t) where t <= now_ms + 1000;
      select kept_times, kept_counts into held.second_times, held.second_counts
        from quota_within(held.second_times, held.second_counts, now_ms - 1000, now_ms);
      newest := cardinality(held.second_times);
    end if;
    minute_ends := (now_ms / 60000 + 1) * 60000;

    in_second := 0;
    if held.second_times[newest] <= now_ms - 1000 then
      held.second_times := '{}';
      held.second_counts := '{}';
    elsif newest > 0 then
      oldest := 1;
      while held.second_times[oldest] <= now_ms - 1000 loop
        oldest := oldest + 1;
      end loop;
      if oldest > 1 then
        held.second_times := held.second_times[oldest:];
        held.second_counts := held.second_counts[oldest:];
      end if;
      foreach counted in array held.second_counts loop
        in_second := in_second + counted;
      end loop;
    end if;

    in_hour := 0;
    newest := cardinality(held.hour_times);
    if held.hour_times[1] > now_ms - 3600000 and held.hour_times[newest] <= minute_ends then
      foreach counted in array held.hour_counts loop
        in_hour := in_hour + counted;
      end loop;
    elsif newest > 0 then
      select * into held.hour_times, held.hour_counts, in_hour
        from quota_within(held.hour_times, held.hour_counts, now_ms - 3600000, now_ms + 3600000);
      newest := cardinality(held.hour_times);
    end if;
    if held.hour_times[newest] = (request->>5)::bigint then
      counted := (request->>4)::integer;
      held.hour_counts[newest] := held.hour_counts[newest] - counted;
      in_hour := in_hour - counted;
    end if;

    passed := greatest(0, least((request->>1)::integer, burst - in_second, per_hour - in_hour));
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
      if per_hour is not null then
        in_hour := in_hour + passed;
        newest := cardinality(held.hour_times);
        if held.hour_times[newest] = minute_ends then
          held.hour_counts[newest] := held.hour_counts[newest] + passed;
        else
          held.hour_times := held.hour_times || minute_ends;
          held.hour_counts := held.hour_counts || passed;
          if held.hour_times[newest] > minute_ends then
            -- The clock was put back.
            select kept_times, kept_counts into held.hour_times, held.hour_counts
              from quota_within(held.hour_times, held.hour_counts, 0, held.hour_times[newest]);
          end if;
        end if;
      end if;
    end if;
    update quota
      set second_times = held.second_times, second_counts = held.second_counts,
        hour_times = held.hour_times, hour_counts = held.hour_counts
      where quota.subject = subject_of_request;

    second_until := now_ms;
    if in_second >= burst then
      second_until := quota_excess_at(held.second_times, held.second_counts, in_second - burst) + 1000;
    end if;
    hour_until := now_ms;
    excess := greatest(0, in_hour - per_hour);
    if held.hour_counts[1] > excess then
      hour_until := held.hour_times[1] + 3600000;
    elsif cardinality(held.hour_times) > 0 then
      hour_until := coalesce(
        quota_excess_at(held.hour_times, held.hour_counts, excess) + 3600000, now_ms
      );
    end if;
    return next;
  end loop;
end
$$;
