/** A request of the request log in one line. */
import type { RequestFacts } from '../../request-log/facts.ts';
import { type Color, colored } from '../framework/style.ts';

export function requestLine({
  at,
  id,
  method,
  route,
  status,
  milliseconds,
  credential,
  error,
}: RequestFacts): string {
  const parts = [
    at,
    colored(colorOf(status), String(status)),
    method,
    route ?? '-',
    `${milliseconds} ms`,
    credential?.id ?? 'anonymous',
    id,
  ];
  return [...parts, ...(error === null ? [] : [error.type])].join(' ');
}

function colorOf(status: number): Color {
  return status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
}
