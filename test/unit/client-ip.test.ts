/** Client IPs as limits count them. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { clientNetwork } from '../../src/http/client-ip.ts';

suite('clientNetwork', () => {
  test('clientNetwork returns one text for an IPv4 address in any spelling', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 1, max: 65_535 }), (ip, port) => {
        const [first = 0, second = 0, third = 0, fourth = 0] = ip.split('.').map(Number);
        const groups = [first * 256 + second, third * 256 + fourth].map((group) => group.toString(16));
        const mapped = [`::ffff:${ip}`, `::FFFF:${ip}`, `0:0:0::ffff:${ip}%1`, `::ffff:${groups.join(':')}`];
        const translated = [`64:ff9b::${ip}`, `0064:FF9B:0::${groups.join(':')}`];
        for (const text of [ip, `${ip}:${port}`, ...translated, ...mapped, `[${mapped.at(-1)}]:${port}`]) {
          assert.equal(clientNetwork(text), ip);
        }
      }),
    );
  });

  test('clientNetwork returns one text for an IPv6 network of 64 bits, and different texts for different networks', () => {
    const groups = fc.array(fc.integer({ min: 1, max: 0xffff }), { minLength: 8, maxLength: 8 });
    const written = (numbers: readonly number[]) => numbers.map((one) => one.toString(16)).join(':');
    fc.assert(
      fc.property(groups, groups, (one, other) => {
        const network = `${written(one.slice(0, 4))}::/64`;
        assert.equal(clientNetwork(written(one)), network);
        assert.equal(clientNetwork(`[${written(one)}]:8080`), network);
        assert.equal(clientNetwork(written([...one.slice(0, 4), ...other.slice(4)]).toUpperCase()), network);
        assert.equal(clientNetwork(`${written(one.slice(0, 4))}::1`), network);
        assert.equal(
          clientNetwork(written(other)) === network,
          `${written(other.slice(0, 4))}::/64` === network,
        );
      }),
    );
    assert.equal(clientNetwork('64:ff9b:1::192.0.2.1'), '64:ff9b:1:0::/64');
    assert.equal(clientNetwork('::1'), '0:0:0:0::/64');
    assert.equal(clientNetwork('2001:db8::'), '2001:db8:0:0::/64');
    assert.equal(clientNetwork('fe80::1%eth0'), 'fe80:0:0:0::/64');
  });

  test('clientNetwork returns a text that is no IP address unchanged', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => void clientNetwork(text)));
    assert.equal(clientNetwork('unknown'), 'unknown');
  });
});
