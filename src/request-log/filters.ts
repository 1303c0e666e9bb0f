/** Filters of the list as the query and the command line state them. */
import { parseTime, timestamp } from '../clock.ts';
import { errorCatalogue, parameterError } from '../errors.ts';
import type { RequestFilters } from './queries.ts';

interface GivenFilters extends Omit<RequestFilters, 'firstStatus' | 'lastStatus'> {
  readonly status?: string | undefined;
}

const errorTypes: readonly string[] = [...new Set(Object.values(errorCatalogue).map(({ type }) => type))];

/** @throws AppError badRequest for an unknown status, type of error or time */
export function parseFilters({ status, from, before, ...exact }: GivenFilters): RequestFilters {
  if (exact.error !== undefined && !errorTypes.includes(exact.error)) {
    throw parameterError('error', `must be one of ${errorTypes.join(', ')}`);
  }
  return {
    ...exact,
    ...(status === undefined ? {} : parseStatus(status)),
    from: from === undefined ? undefined : parseTimeFilter('from', from),
    before: before === undefined ? undefined : parseTimeFilter('before', before),
  };
}

function parseStatus(status: string): Pick<RequestFilters, 'firstStatus' | 'lastStatus'> {
  if (/^[1-5]xx$/i.test(status)) {
    const first = Number(status[0]) * 100;
    return { firstStatus: first, lastStatus: first + 99 };
  }
  if (!/^[1-5]\d\d$/.test(status)) {
    throw parameterError('status', 'must be a status such as 422, or a class such as 4xx.');
  }
  return { firstStatus: Number(status), lastStatus: Number(status) };
}

function parseTimeFilter(name: string, text: string): string {
  const time = parseTime(text);
  if (Number.isNaN(time)) {
    throw parameterError(name, 'must be an RFC 3339 time, such as 2026-01-15T09:30:00Z.');
  }
  return timestamp(time);
}
