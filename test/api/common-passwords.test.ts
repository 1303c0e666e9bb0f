/** Common passwords are refused in sandbox and production, on every path that sets a password. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isCommonPassword } from '../../src/auth/common-passwords.ts';
import { sql } from '../../src/database/sql.ts';
import { shared } from '../context.ts';
import { assertError, openShop, type Shop } from '../helper.ts';

const uncommon = 'correct horse battery staple';
const message = /password: is one of the most common.*choose another, such as four unrelated words/;
const customer = (username: string, password: string) => ({
  username,
  email: `${username}@example.com`,
  password,
});

const sendRegistration = (shop: Shop, username: string, password: string) =>
  shop.request('POST', '/v2/customer', { body: customer(username, password) });

suite('A common password', () => {
  const sandbox = shared((t) => openShop(t, { settings: { CURD_ENVIRONMENT: 'sandbox' } }));

  test('A common password is refused at registration in any case, padded with spaces or zero-width characters', async () => {
    const written = ['password', 'PassWord1', 'ｐａｓｓｗｏｒｄ', 'qwertyuiop'];
    const withInvisible = [
      ' password\u00a0',
      '\ufeffpassword\n',
      'pass\u200bword',
      'p\u200da\u200cs\ufeffsword',
    ];
    for (const password of [...written, ...withInvisible]) {
      const refused = await sendRegistration(sandbox(), 'ada', password);
      assertError(refused, 422, 'validation_error');
      assert.match(refused.json.message, message);
    }
    assert.equal((await sendRegistration(sandbox(), 'ada', uncommon)).status, 201);
  });

  test('A common password is refused in its entry of a batch, and the other customers are registered', async () => {
    const body = [customer('b1', uncommon), customer('b2', '12345678'), { username: 'b 3' }];
    const { status, json } = await sandbox().request('POST', '/v2/customer/createMultiple', { body });
    assert.equal(status, 200);
    assert.deepEqual(
      json.created.map(({ username }: { username: string }) => username),
      ['b1'],
    );
    const [common, other] = json.errors;
    assert.equal(common.index, 1);
    assert.match(common.message, message);
    assert.equal(other.index, 2);
  });

  test('A common password is refused as a new password, and the old password stays', async () => {
    const shop = sandbox();
    await sendRegistration(shop, 'carl', uncommon);
    const login = (password: string) =>
      shop.request('POST', '/v2/customer/login', { body: { username: 'carl', password } });
    const headers = { authorization: `Bearer ${(await login(uncommon)).json.token}` };
    const put = (password: string) =>
      shop.request('PUT', '/v2/customer/carl', { body: customer('carl', password), headers });
    const refused = await put('Football1');
    assertError(refused, 422, 'validation_error');
    assert.match(refused.json.message, message);
    assert.equal((await put(uncommon)).status, 200);
    assert.equal((await login(uncommon)).status, 200);
  });

  test('A common password is allowed in local', async (t) => {
    assert.equal((await sendRegistration(await openShop(t), 'ada', 'password')).status, 201);
  });

  test('A common password that was set earlier is still accepted at login and by other changes', async (t) => {
    const local = await openShop(t);
    await sendRegistration(local, 'dora', 'password');
    const [row] = await local.app.database.all<{ password: string }>(sql`select password from customer`);
    const shop = sandbox();
    await sendRegistration(shop, 'dora', uncommon);
    await shop.app.database.transaction((tx) =>
      tx.run(sql`update customer set password = ${row?.password ?? ''} where username = 'dora'`),
    );
    const body = { username: 'dora', password: 'password' };
    const { status, json } = await shop.request('POST', '/v2/customer/login', { body });
    assert.equal(status, 200);
    const changed = await shop.request('PUT', '/v2/customer/dora', {
      body: { ...customer('dora', 'password'), firstName: 'Dora' },
      headers: { authorization: `Bearer ${json.token}` },
    });
    assert.deepEqual([changed.status, changed.json.firstName], [200, 'Dora']);
  });
});

test('The list of common passwords has at least the ten thousand most common passwords', async () => {
  const file = import.meta.resolve('@zxcvbn-ts/language-common/src/passwords.json');
  const list = JSON.parse(await readFile(fileURLToPath(file), 'utf8')) as string[];
  assert.ok(list.length >= 10_000, String(list.length));
  for (const index of [0, 9999, list.length - 1]) {
    assert.ok(await isCommonPassword(String(list[index]).toUpperCase()), String(list[index]));
  }
  for (const password of [uncommon, '', '\n', '123456\npassword', '123456 password', 'xk7!q', 'asswor']) {
    assert.ok(!(await isCommonPassword(password)), password);
  }
});
