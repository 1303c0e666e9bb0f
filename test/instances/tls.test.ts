/** TLS to PostgreSQL: which certificates are accepted. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { openPostgres } from '../../src/database/postgres/postgres.ts';
import { isTlsForgotten, parseTlsSettings } from '../../src/database/postgres/tls.ts';
import { rawSql } from '../../src/database/sql.ts';
import { assertRefused, curd, freshShop } from '../cli/run.ts';
import { postgresUrl, type Scope, secret, shared, temporaryFolder } from '../context.ts';
import { ownPostgres } from './own-postgres.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

/** A new CA, and a certificate that it issued for the names. */
async function issue(t: Scope, names: string) {
  const folder = await temporaryFolder(t);
  const openssl = (line: string) => execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'pipe' });
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  openssl(`req -x509 ${newKey} -keyout ca.key -out ca.pem -subj /CN=ca -days 2`);
  openssl(`req ${newKey} -keyout server.key -out server.csr -subj /CN=server`);
  writeFileSync(join(folder, 'names'), `subjectAltName=${names}`);
  openssl(
    'x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 2 -extfile names',
  );
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { ca: join(folder, 'ca.pem'), certificate: read('server.pem'), key: read('server.key') };
}

/** Connects, and returns whether the connection is encrypted. */
async function isEncrypted(url: string): Promise<boolean> {
  const database = openPostgres(url);
  try {
    const row = await database.get<{ ssl: boolean }>(
      rawSql('select ssl from pg_stat_ssl where pid = pg_backend_pid()'),
    );
    return row?.ssl === true;
  } finally {
    await database.close();
  }
}

suite('A PostgreSQL with TLS', { skip: hasOpenssl ? false : 'certificates need openssl' }, () => {
  const opened = shared(async (t) => {
    const [own, other] = [await issue(t, 'DNS:localhost'), await issue(t, 'DNS:localhost')];
    const { url } = await ownPostgres(t, own);
    return { url: url.replace('127.0.0.1', 'localhost'), ca: own.ca, otherCa: other.ca };
  });
  const notVerified = /certificate of the database server could not be verified/;

  test('A PostgreSQL with TLS is used with sslmode=require if its CA is given, and only with a host of the certificate', async () => {
    const { url, ca } = opened();
    for (const mode of ['require', 'verify-full', 'verify-ca']) {
      assert.equal(await isEncrypted(`${url}?sslmode=${mode}&sslrootcert=${ca}&max=1`), true, mode);
    }
    const byAddress = url.replace('localhost', '127.0.0.1');
    await assert.rejects(isEncrypted(`${byAddress}?sslmode=require&sslrootcert=${ca}`), notVerified);
    assert.equal(await isEncrypted(`${byAddress}?sslmode=verify-ca&sslrootcert=${ca}`), true);
  });

  test('A PostgreSQL with TLS is used by its IP address if the certificate names it, and not by a name that is not in it', async (t) => {
    const own = await issue(t, 'IP:127.0.0.1');
    const { url } = await ownPostgres(t, own);
    assert.equal(await isEncrypted(`${url}?sslmode=require&sslrootcert=${own.ca}&max=1`), true);
    const byName = url.replace('127.0.0.1', 'localhost');
    await assert.rejects(isEncrypted(`${byName}?sslmode=require&sslrootcert=${own.ca}`), notVerified);
  });

  test('A PostgreSQL with TLS is refused if its CA is unknown or another one', async () => {
    const { url, otherCa } = opened();
    for (const parameters of [
      'sslmode=require',
      'sslmode=verify-ca',
      'sslmode=require&sslrootcert=system',
      `sslmode=require&sslrootcert=${otherCa}`,
    ]) {
      await assert.rejects(isEncrypted(`${url}?${parameters}`), notVerified, parameters);
    }
  });

  test('A PostgreSQL with TLS is used without verification with no-verify, and without TLS with disable or no sslmode', async () => {
    const { url } = opened();
    assert.equal(await isEncrypted(`${url}?sslmode=no-verify`), true);
    assert.equal(await isEncrypted(`${url}?sslmode=disable`), false);
    assert.equal(await isEncrypted(url), false);
  });

  test('A PostgreSQL with TLS that is refused ends the server with the reason and the remedy', async (t) => {
    const { url } = opened();
    const refused = async (parameters: string, ...says: RegExp[]) => {
      const shop = await freshShop(t, { CURD_SECRET: secret, CURD_DATABASE: `${url}?${parameters}` });
      assertRefused(await curd(shop, 'serve', '--port', '0'), ...says);
    };
    await refused('sslmode=require', notVerified, /sslrootcert/);
    await refused('sslmode=prefer', /sslmode of CURD_DATABASE is "prefer": set it to require/);
    await refused(
      'sslmode=require&sslrootcert=/nowhere/ca.pem',
      /sslrootcert \/nowhere\/ca\.pem .*cannot be read/,
    );
  });
});

test('A PostgreSQL without TLS is refused with sslmode=require', async () => {
  for (const mode of ['require', 'no-verify']) {
    await assert.rejects(isEncrypted(`${postgresUrl}/template1?sslmode=${mode}`), /does not accept TLS/);
  }
});

test('A database on another machine without sslmode is reported', () => {
  assert.deepEqual(
    ['localhost:5432', '[::1]:5432', 'db1,localhost', 'db1'].map((hosts) =>
      isTlsForgotten(`postgres://curd@${hosts}/curd?max=3`),
    ),
    [false, false, true, true],
  );
  assert.equal(isTlsForgotten('postgres://db1/curd?sslmode=disable'), false);
  assert.equal(
    parseTlsSettings('postgres://one,two/curd?sslmode=no-verify&max=3').url,
    'postgres://one,two/curd?max=3',
  );
});
