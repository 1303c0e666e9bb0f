/** Terms of the field, as somebody searches for them who does not know this code, find the right file. */
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { filesIn, read } from './sources.ts';

/** Each with the file, or its name in any area, that has to be among the first two that are found. */
const fileOfTerm: Readonly<Record<string, string>> = {
  backoff: 'src/jobs/retry-schedule.ts',
  'body limit': 'src/http/server.ts',
  budget: 'src/auth/keys/budgets.ts',
  'cache purge': 'src/edge/purger.ts',
  'connection pool': 'src/database/postgres/pool.ts',
  CORS: 'src/http/cors.ts',
  CSP: 'src/http/pages/send-page.ts',
  cursor: 'src/cursor.ts',
  'dead instance': 'src/operations/instances.ts',
  'dead letter': 'src/webhooks/delivery/results.ts',
  'default plan': 'src/auth/keys/accounts.ts',
  'event retention': 'src/event-log/retention.ts',
  'event type': '/event-types.ts',
  exponential: 'src/jobs/retry-schedule.ts',
  'graceful shutdown': 'src/app/build-app.ts',
  'group commit': 'src/database/group-commit.ts',
  'health check': 'src/operations/readiness.ts',
  'idempotency key': 'src/stored-responses/store.ts',
  'lock order': 'src/database/lock-order.ts',
  'mail template': 'src/mail/content/templates.ts',
  'movable clock': 'src/sandbox/clock/movable-clock.ts',
  'order total': 'src/orders/pricing/lines.ts',
  pagination: 'src/cursor.ts',
  'pool size': 'src/database/postgres/url.ts',
  'rate limit': 'src/limits/rate-limits.ts',
  'request timeout': 'src/http/server.ts',
  retention: 'src/event-log/retention.ts',
  'retry schedule': 'src/jobs/retry-schedule.ts',
  'sandbox simulate': 'src/sandbox/faults/simulations.ts',
  savepoint: 'src/database/group-commit.ts',
  semaphore: 'src/database/semaphore.ts',
  'session lifetime': 'src/auth/sessions/service.ts',
  'SMTP error': 'src/mail/transport/smtp-errors.ts',
  tombstone: 'src/cheeses/changes/catalogue-changes.ts',
  'tool list': 'src/mcp/tools.ts',
};

/** The comment at the beginning. */
const headOf = (text: string) => /^\/\*\*.*?\*\//s.exec(text)?.[0] ?? '';

/** How well a file answers a search: by its name, then by the comment at its beginning, then by how often it has the term. */
function scoreOf(path: string, term: RegExp): number {
  const count = (text: string) => text.match(term)?.length ?? 0;
  const text = read(path);
  return 1e6 * count(basename(path)) + 1e3 * count(headOf(text)) + count(text);
}

test('Terms of the field find the right file of src', () => {
  const paths = filesIn('src/**/*.ts');
  const missed = Object.entries(fileOfTerm).flatMap(([term, file]) => {
    const pattern = new RegExp(term.split(' ').join('[ _-]?'), 'gi');
    const found = paths
      .map((path) => ({ path, score: scoreOf(path, pattern) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || a.path.length - b.path.length)
      .slice(0, 2)
      .map(({ path }) => path);
    return found.some((path) => path.endsWith(file))
      ? []
      : [`${term}: ${found.join(', ') || 'nothing'}, not ${file}`];
  });
  assert.deepEqual(missed, [], 'use the term in the name of the file or in its first comment');
});
