/** Ids of requests and traces: those of the client if they are valid, else new ones. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../src/clock.ts';
import { createRequestIds, toTraceId } from '../../src/http/trace.ts';

const fresh = 'f'.repeat(32);
const clock = {
  ...systemClock,
  uuid: () => 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};
const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
const isNotZero = (text: string) => !/^0+$/.test(text);
const traceIds = hex(32).filter(isNotZero);
const parentIds = hex(16).filter(isNotZero);

suite('createRequestIds', () => {
  test('createRequestIds accepts an id of the client with permitted characters', () => {
    const unit = fc.constantFrom(...'ABCxyz019._-');
    fc.assert(
      fc.property(fc.string({ unit, minLength: 1, maxLength: 128 }), (id) =>
        assert.equal(createRequestIds(clock)(id), id),
      ),
    );
  });

  test('createRequestIds creates a new id instead of an invalid one', () => {
    const others = [undefined, '', 'a'.repeat(129), 'a b', 'a\n', 'a\r\nSet-Cookie: x', 'é', 'a,b', ['a']];
    for (const given of others) {
      assert.equal(createRequestIds(clock)(given), 'ffffffff-ffff-ffff-1', String(given));
    }
    const fresh = createRequestIds(systemClock);
    assert.notEqual(fresh(), fresh());
    assert.notEqual(createRequestIds(systemClock)(), createRequestIds(systemClock)());
  });
});

suite('toTraceId', () => {
  test('toTraceId returns the trace id of a valid traceparent, with any flags', () => {
    fc.assert(
      fc.property(traceIds, parentIds, hex(2), (trace, parent, flags) =>
        assert.equal(toTraceId(`00-${trace}-${parent}-${flags}`, clock), trace),
      ),
    );
  });

  test('toTraceId reads later versions, which can have more fields after a dash', () => {
    fc.assert(
      fc.property(traceIds, parentIds, hex(2), (trace, parent, version) => {
        fc.pre(version !== 'ff' && version !== '00');
        assert.equal(toTraceId(`${version}-${trace}-${parent}-01`, clock), trace);
        assert.equal(toTraceId(`${version}-${trace}-${parent}-01-what-the-future-brings`, clock), trace);
        assert.equal(toTraceId(`${version}-${trace}-${parent}-01.what`, clock), fresh);
      }),
    );
  });

  test('toTraceId starts a new trace for a header that W3C Trace Context calls invalid', () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const parent = '00f067aa0ba902b7';
    for (const header of [
      undefined,
      '',
      'x',
      `00-${trace}-${parent}`,
      `00-${trace}-${parent}-`,
      `00-${trace}-${parent}-0`,
      `00-${trace}-${parent}-01.`,
      `ff-${trace}-${parent}-01`,
      `00-${'0'.repeat(32)}-${parent}-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      `00-${trace.toUpperCase()}-${parent}-01`,
      `00-${trace.slice(1)}-${parent}-01`,
      `00-${trace}0-${parent}-01`,
      `0-${trace}-${parent}-01`,
      ` 00-${trace}-${parent}-01`,
      `00_${trace}_${parent}_01`,
      `00-${trace}-${parent}-zz`,
    ]) {
      assert.equal(toTraceId(header, clock), fresh, String(header));
    }
  });

  test('toTraceId starts a new trace when version 00 has more fields than permitted (W3C Trace Context, 2.2.2)', () => {
    const header = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more';
    assert.equal(toTraceId(header, clock), fresh);
  });

  test('toTraceId starts a trace of 32 hexadecimal digits, a different one each time', () => {
    assert.match(toTraceId(undefined, systemClock), /^[0-9a-f]{32}$/);
    assert.notEqual(toTraceId(undefined, systemClock), toTraceId(undefined, systemClock));
  });

  test('toTraceId returns 32 hexadecimal digits for any header', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.array(fc.string())), (header) =>
        assert.match(toTraceId(header, clock), /^[0-9a-f]{32}$/),
      ),
    );
  });
});
