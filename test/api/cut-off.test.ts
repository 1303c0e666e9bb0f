/** Requests and responses that are cut off: no client gets a response, but the log and the metrics show them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { composeShop } from '../../src/app/compose.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { freshShop, start } from '../cli/run.ts';
import { secret, until } from '../context.ts';
import { cleanUp, openShop, type Shop } from '../helper.ts';

async function metricsOf({ app }: Shop, admin: string): Promise<string> {
  const response = await app.server.inject({ url: '/metrics', headers: { 'x-api-key': admin } });
  return response.payload;
}

suite('A connection that is cut off', () => {
  test('A connection that is cut off is an error of the client when the form was incomplete', async (t) => {
    const shop = await openShop(t);
    await shop.app.server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = shop.app.server.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    const head = [
      'POST /oauth/logout HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: 100',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\ntoken=half`);
    await sleep(100);
    socket.destroy();
    let counted: string | undefined;
    await until(async () => {
      const lines = (await metricsOf(shop, shop.admin)).split('\n');
      counted = lines.find((line) => /_count\{.*route="\/oauth\/logout"/.test(line));
      return counted !== undefined;
    });
    assert.match(counted ?? '', /status="400"\} 1$/);
  });

  test('The request log has numeric durations when the URL is invalid', async (t) => {
    const shop = await openShop(t);
    const response = await shop.app.server.inject('/%zz');
    assert.equal(response.statusCode, 404);
    const metrics = await metricsOf(shop, shop.admin);
    assert.match(metrics, /_sum\{method="any",route="none",status="404"\} [\d.e-]+$/m);
    assert.doesNotMatch(metrics, /NaN/);
  });

  test('A connection that is cut off is logged when the database fails after the first page of a long response', async (t) => {
    const environment = await freshShop(t, {
      CURD_SECRET: secret,
      CURD_ENVIRONMENT: 'production',
      CURD_PUBLIC_URL: 'https://shop.example',
    });
    const {
      database,
      auth: { keys },
      cheeses: { service: cheeses },
      contextOf,
      close,
    } = await composeShop(loadConfig(environment));
    cleanUp(t, close);
    const context = contextOf('test');
    const photoUrls = Array.from(
      { length: 5 },
      (_, place) => `https://example.com/${place}/${'x'.repeat(1900)}`,
    );
    await cheeses.import(
      context,
      Array.from({ length: 3000 }, (_, number) => ({ name: `Cheese ${number}`, photoUrls })),
      new Set(),
    );
    const account = await keys.createAccount(context, 'reader');
    const { key } = await keys.create(context, account.id, { scopes: ['read:cheeses'] });
    const server = start(['serve', '--port', '0'], environment);
    cleanUp(t, () => server.kill('SIGKILL'));
    let printed = '';
    for (const stream of [server.stdout, server.stderr]) {
      stream.on('data', (text) => {
        printed += text;
      });
    }
    await until(async () => printed.includes('Stop: Ctrl+C'));
    const url = /listening on (http:\S+)/.exec(printed)?.[1];
    const headers = { 'X-API-Key': key, 'X-Request-Id': 'cut-off' };
    const request = get(`${url}/v2/cheeses/findByStatus?status=available`, { headers });
    const [response] = await once(request, 'response');
    assert.equal(response.statusCode, 200);
    response.pause();
    await database.exclusiveTransaction((_sql, run) => run('alter table cheese rename to elsewhere'));
    const broken = once(response, 'error');
    response.once('end', () => response.emit('error', new Error('it came to its end')));
    response.resume();
    const [error] = await broken;
    assert.equal(error.code, 'ECONNRESET');
    await until(async () => printed.includes('"level":"error"'));
    const line = printed.split('\n').find((one) => one.includes('"level":"error"')) ?? '{}';
    const { requestId, err } = JSON.parse(line);
    assert.equal(requestId, 'cut-off', printed);
    assert.match(err.message, /no such table: .*cheese/);
  });
});
