/** The servers of a database URL. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { hostsIn, urlsIn } from '../../src/database/postgres/hosts.ts';
import { ConfigError } from '../../src/settings/parsers.ts';

suite('The URL of PostgreSQL', () => {
  test('The URL of PostgreSQL names one server or several', () => {
    const cases: readonly (readonly [url: string, urls: readonly string[]])[] = [
      ['postgres://db/curd', ['postgres://db/curd']],
      ['postgres://u:p@db:5433/curd?max=5', ['postgres://u:p@db:5433/curd?max=5']],
      [
        'postgres://u:p@one:5432,two/curd?target_session_attrs=read-write&max=5',
        ['postgres://u:p@one:5432/curd?max=5', 'postgres://u:p@two/curd?max=5'],
      ],
      [
        'postgres://u:p@[::1]:5432,[fe80::1]?target_session_attrs=primary',
        ['postgres://u:p@[::1]:5432', 'postgres://u:p@[fe80::1]'],
      ],
    ];
    for (const [url, urls] of cases) {
      assert.deepEqual(urlsIn(url), urls);
    }
    assert.deepEqual(hostsIn('postgres://u:p@one:5432,[::1]:5432,10.0.0.1/curd'), ['one', '::1', '10.0.0.1']);
  });

  test('The URL of PostgreSQL is refused where it asks for a standby', () => {
    for (const target of ['standby', 'prefer-standby', 'read-only', 'any', '']) {
      assert.throws(
        () => urlsIn(`postgres://one,two/curd?target_session_attrs=${target}`),
        (error) =>
          error instanceof ConfigError && /leave it out, or set it to read-write/.test(error.message),
      );
    }
  });
});
