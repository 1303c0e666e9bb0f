/** The member `errors` of error bodies: fields that are not valid, and fields whose values are taken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Curd, isCurdError } from '../../client/src/index.ts';
import { assertError, onBothEngines, openListeningShop, shared } from '../helper.ts';

onBothEngines('The errors of a response', (engine) => {
  const shop = shared((t) => openListeningShop(t, { engine }));

  test('The errors of a response name each invalid parameter of a 400', async () => {
    const response = await shop().request('GET', '/v2/cheeses?limit=0&sort=taste', { as: shop().reader });
    assertError(response, 400, 'bad_request');
    const { errors, message } = response.json;
    assert.deepEqual(
      errors.map(({ field }: { field: string }) => field),
      ['limit', 'sort'],
    );
    assert.equal(
      message,
      errors.map((one: { field: string; message: string }) => `${one.field}: ${one.message}`).join('; '),
    );
  });

  test('The errors of a response name each header and parameter that a 400 is about', async () => {
    const { request, admin } = shop();
    for (const [path, headers, field, method = 'GET'] of [
      ['/v2/cheeses?cursor=abc', {}, 'cursor'],
      ['/v2/cheeses?minPrice=2&maxPrice=1', {}, 'minPrice'],
      ['/v2/events?since=yesterday', {}, 'since'],
      ['/v2/events?types=cheese.eaten', {}, 'types'],
      ['/v2/requests?status=4yy', {}, 'status'],
      ['/v2/requests?error=conflct', {}, 'error'],
      ['/v2/store/order', { 'Idempotency-Key': 'a b' }, 'Idempotency-Key', 'POST'],
      ['/v2/store/order', { 'Dry-Run': 'yes' }, 'Dry-Run', 'POST'],
      ['/v2/cheeses', { 'Sandbox-Simulate': '999' }, 'Sandbox-Simulate'],
      ['/v2/cheeses/1', {}, 'X-Confirm-Delete', 'DELETE'],
      ['/v2/cheeses/1', { 'X-Confirm-Delete': 'yes' }, 'X-Confirm-Delete', 'DELETE'],
    ] as const) {
      const response = await request(method, path, {
        ...('X-API-Key' in headers ? {} : { as: admin }),
        headers,
      });
      assert.equal(response.status, 400, `${path} ${JSON.stringify(headers)}`);
      assertError(response, 400, 'bad_request');
      const { errors = [], message } = response.json;
      assert.deepEqual(
        errors.map((one: { field: string }) => one.field),
        [field],
        path,
      );
      assert.equal(message, `${field}: ${errors[0].message}`);
    }
    const remove = async (value: string) =>
      (await request('DELETE', '/v2/cheeses/1', { as: admin, headers: { 'X-Confirm-Delete': value } })).json
        .errors[0].message;
    assert.deepEqual([await remove('yes'), await remove('false')], ['must be true', 'must be true']);
  });

  test('The errors of a response name all fields of a webhook endpoint that are not valid', async () => {
    const response = await shop().request('POST', '/v2/webhook-endpoints', {
      as: shop().admin,
      body: { url: 'warehouse', types: ['ordr.*'] },
    });
    assertError(response, 422, 'validation_error');
    assert.deepEqual(
      response.json.errors.map(({ field }: { field: string }) => field),
      ['url', 'types[0]'],
    );
  });

  test('The errors of a response name the fields of a 409 whose values are taken, and no others', async () => {
    const { request, writer, admin } = shop();
    const customer = { username: 'grace', email: 'grace@example.com', password: 'a cellar full of wheels' };
    assert.equal((await request('POST', '/v2/customer', { body: customer })).status, 201);
    for (const [change, fields] of [
      [{ email: 'other@example.com' }, ['username']],
      [{ username: 'other' }, ['email']],
      [{}, ['username', 'email']],
    ] as const) {
      const response = await request('POST', '/v2/customer', { body: { ...customer, ...change } });
      assertError(response, 409, 'conflict');
      assert.deepEqual(
        response.json.errors,
        fields.map((field) => ({ field, message: 'belongs to another customer' })),
      );
    }
    const cheese = { as: writer, body: { name: 'Comté', photoUrls: [] } };
    assert.equal((await request('POST', '/v2/cheeses', cheese)).status, 201);
    const account = { as: admin, body: { name: 'Fromagerie' } };
    assert.equal((await request('POST', '/v2/accounts', account)).status, 201);
    for (const response of [
      await request('POST', '/v2/cheeses', cheese),
      await request('POST', '/v2/accounts', account),
    ]) {
      assertError(response, 409, 'conflict');
      assert.deepEqual(
        response.json.errors.map(({ field }: { field: string }) => field),
        ['name'],
      );
    }
  });

  test('The errors of a response are the fields of an error of the client package, and absent where no field is named', async () => {
    const curd = new Curd({ baseUrl: shop().url, apiKey: shop().reader });
    const errorOf = async (work: PromiseLike<unknown>) => {
      try {
        await work;
      } catch (error) {
        assert.ok(isCurdError(error));
        return error;
      }
      assert.fail('it succeeded');
    };
    assert.deepEqual(
      (await errorOf(curd.cheeses.list({ limit: 0 }))).errors.map(({ field }) => field),
      ['limit'],
    );
    assert.deepEqual((await errorOf(curd.cheeses.get(987_654))).errors, []);
    const { json } = await shop().request('GET', '/v2/cheeses/987654', { as: shop().reader });
    assert.equal('errors' in json, false);
  });
});
