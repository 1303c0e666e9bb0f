/** When an endpoint is paused, and how many requests it gets at once. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { timestamp } from '../../src/clock.ts';
import { afterFailure, afterSuccess, chooseRunningMax } from '../../src/webhooks/health.ts';
import type { EndpointRow } from '../../src/webhooks/queries.ts';

const start = Date.parse('2026-06-01T12:00:00Z');
const healthy: EndpointRow = {
  id: 3,
  account_id: 1,
  url: 'https://example.com/',
  types: null,
  description: null,
  secrets: '[]',
  status: 'enabled',
  disabled_reason: null,
  position: 0,
  last_event_id: null,
  failing_since: null,
  failures_in_row: 0,
  paused_until: null,
  pause_ms: 0,
  version: 1,
  created_at: '',
  updated_at: '',
};

/** After one failure with each status, each at the end of the pause before it. Returns the pauses in seconds. */
function pausesOf(statuses: readonly (number | null)[]): number[] {
  let endpoint = healthy;
  let now = start;
  return statuses.map((status) => {
    endpoint = { ...endpoint, ...afterFailure(endpoint, timestamp(now), status, now) };
    const until = Date.parse(endpoint.paused_until ?? timestamp(now));
    const seconds = Math.max(0, until - now) / 1000;
    now = Math.max(now, until);
    return seconds;
  });
}

suite('An endpoint', () => {
  test('A webhook endpoint is paused by 429, 502 and 504, twice as long each time up to ten minutes', () => {
    assert.deepEqual(pausesOf([429, 502, 504, 429, 429, 429, 429]), [30, 60, 120, 240, 480, 600, 600]);
    assert.deepEqual(pausesOf([500, null, 404, 503]), [0, 0, 0, 0]);
  });

  test('A webhook endpoint is paused once by failures at the same time', () => {
    const first = { ...healthy, ...afterFailure(healthy, timestamp(start), 429, start) };
    const second = afterFailure(first, timestamp(start), 429, start + 10);
    assert.equal(second.paused_until, timestamp(start + 30_000));
    assert.equal(second.failures_in_row, 2);
  });

  test('A webhook endpoint gets no request while it is paused or disabled, one after ten failures in a row, else eight', () => {
    const at = (changes: Partial<EndpointRow>) => chooseRunningMax({ ...healthy, ...changes }, start);
    assert.equal(at({}), 8);
    assert.equal(at({ failures_in_row: 9 }), 8);
    assert.equal(at({ failures_in_row: 10 }), 1);
    assert.equal(at({ paused_until: timestamp(start + 1) }), 0);
    assert.equal(at({ paused_until: timestamp(start) }), 8);
    assert.equal(at({ status: 'disabled' }), 0);
  });

  test('A webhook endpoint is failing since its first failed attempt after the last success, in whatever order results come', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { minLength: 1, maxLength: 12 }), (offsets) => {
        let endpoint: EndpointRow = { ...healthy, ...afterSuccess(healthy) };
        for (const offset of offsets) {
          const startedAt = timestamp(start + offset);
          endpoint = { ...endpoint, ...afterFailure(endpoint, startedAt, 500, start + 2000) };
        }
        assert.equal(endpoint.failing_since, timestamp(start + Math.min(...offsets)));
        assert.equal(endpoint.failures_in_row, offsets.length);
        const after = { ...endpoint, ...afterSuccess(endpoint) };
        assert.deepEqual(after, healthy);
      }),
      { numRuns: 50 },
    );
  });
});
