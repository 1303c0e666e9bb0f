/** Disks that report errors: requests are 503, and changes are either made or not. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { rawSql } from '../../src/database/sql.ts';
import { translateSqliteError } from '../../src/database/sqlite/sqlite-errors.ts';
import { AppError } from '../../src/errors.ts';
import { toAppError } from '../../src/http/responses/error-body.ts';
import { toErrorStatus } from '../../src/http/responses/error-mapping.ts';
import { accountWithKey, cheesesIn, curd, freshShop, serve } from '../cli/run.ts';
import { assertError, openShop } from '../helper.ts';

/** Limits the file size to about a megabyte. SQLite reports that in the same way as EIO and EDQUOT. */
const withSmallFiles = ['sh', '-c', 'ulimit -f 2048 && exec "$0" "$@"'];

suite('A disk that reports errors', () => {
  test('A disk that reports errors returns 503 for changes, none of which is made in part, and reads succeed', async (t) => {
    const shop = await freshShop(t, { CURD_LOG_LEVEL: 'silent' });
    await (await serve(t, shop)).stop();
    const { key } = await accountWithKey(shop, ['write:cheeses'], { plan: 'enterprise' });
    const { url, stop } = await serve(t, shop, withSmallFiles);
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    const known = new Set((await cheesesIn(shop)).map(({ name }) => name));
    const write = async (name: string) => {
      const response = await fetch(`${url}/v2/cheeses`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name, tags: [{ name: `tag of ${name}` }] }),
      });
      const { message } = (await response.json()) as { message: string };
      return { status: response.status, message, retryAfter: response.headers.get('retry-after') };
    };
    let answer = await write('Cheese 0');
    for (let count = 1; count < 2000 && answer.status === 201; count += 1) {
      known.add(`Cheese ${count - 1}`);
      answer = await write(`Cheese ${count}`);
    }
    assert.deepEqual([answer.status, answer.retryAfter], [503, '60']);
    assert.match(answer.message, /^The disk cannot be .* change may have been made: .* Idempotency-Key/);
    assert.equal((await write('Another')).status, 503);
    assert.equal((await fetch(`${url}/v2/cheeses`, { headers })).status, 200);
    assert.equal((await fetch(`${url}/readyz`)).status, 503);
    await stop();
    const { code, stdout } = await curd(shop, 'doctor');
    assert.equal(code, 0, stdout);
    const stored = new Set((await cheesesIn(shop)).map(({ name }) => name));
    assert.deepEqual(known.difference(stored), new Set(), 'cheeses whose creation was confirmed');
  });

  test('A disk that reports errors under PostgreSQL returns 503 for changes, and nothing is changed', async (t) => {
    const shop = await openShop(t, { engine: 'postgres' });
    const { database } = shop.app;
    await database.exclusiveTransaction((_, runScript) =>
      runScript(`
        create function fail() returns trigger language plpgsql as $$
        begin
          if new.name_key ~* '^e[0-9]{2}[0-9p][0-9]{2}' then raise exception 'disk' using errcode = upper(substr(new.name_key, 2)); end if;
          return new;
        end $$;
        create trigger fail before insert on cheese for each row execute function fail();`),
    );
    for (const [code, message] of [
      ['58030', /^The disk cannot be read or written right now\. Nothing was changed\./],
      ['53100', /^The disk of the database is full: nothing was changed/],
      ['58P01', /^The database server lacks a file or a library \(58P01\).* Nothing was changed\.$/],
      ['58000', /^The system of the database server reported an error \(58000\).* Nothing was changed\.$/],
    ] as const) {
      const response = await shop.request('POST', '/v2/cheeses', {
        as: shop.writer,
        body: { name: `E${code}` },
      });
      assertError(response, 503, 'unavailable');
      assert.match(response.json.message, message);
      assert.equal(response.headers['retry-after'], '60');
    }
    const lost = await database.run(rawSql('select pg_terminate_backend(pg_backend_pid())')).catch(String);
    assert.match(String(lost), /connection to the database was lost.*may have been made/);
  });

  test('A disk that reports errors is recognized by all codes of SQLite and of the operating system', () => {
    // READONLY, CANTOPEN and kinds of IOERR: read, write, fsync, mmap.
    for (const errcode of [8, 14, 266, 778, 1034, 6154]) {
      const error = translateSqliteError(Object.assign(new Error('disk'), { errcode }));
      assert.ok(error instanceof AppError && toErrorStatus(error) === 503, String(errcode));
    }
    for (const code of ['EIO', 'EDQUOT', 'ENOSPC', 'EROFS', 'EFBIG', 'EMFILE']) {
      const error = toAppError(Object.assign(new Error('disk'), { code, syscall: 'write' }));
      assert.equal(toErrorStatus(error), 503, code);
      assert.match(error.message, /may have been made/);
    }
    assert.equal(toErrorStatus(toAppError(Object.assign(new Error('bug'), { code: 'ENOENT' }))), 500);
  });
});
