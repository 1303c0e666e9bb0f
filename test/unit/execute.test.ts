/** Routes run on plain data, without a server, a request of the framework or a response of it. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { Principal } from '../../src/access/principal.ts';
import { fillDemoCatalogue } from '../../src/app/demo/demo.ts';
import { AppError } from '../../src/errors.ts';
import type { ReceivedForm } from '../../src/http/bodies/multipart.ts';
import { execute, type RouteInput } from '../../src/http/pipeline/execute.ts';
import type { RouteResponse } from '../../src/http/responses/response.ts';
import { restoreTestOrders } from '../../src/orders/test-orders.ts';
import { createIdempotencyStore } from '../../src/stored-responses/store.ts';
import { imageIn } from '../api/image-forms.ts';
import { openShop, type Scope, secret, temporaryFolder } from '../helper.ts';

interface Call {
  readonly params?: RouteInput['params'];
  readonly body?: unknown;
  readonly principal?: Principal | null;
  readonly receive?: RouteInput['receive'];
}

const password = 'Roquefort 9';

async function openRoutes(t: Scope) {
  const { app, clock } = await openShop(t);
  const {
    database,
    cheeses: { service: cheeses },
    auth: { keys },
    contextOf,
  } = app;
  const context = contextOf('test');
  await fillDemoCatalogue(cheeses, context);
  await restoreTestOrders(context);
  const { id: accountId } = await keys.createAccount(context, 'execute');
  const idempotency = createIdempotencyStore(database, clock, secret);
  const operator: Principal = {
    kind: 'apiKey',
    id: 'key:1',
    accountId,
    plan: 'enterprise',
    scopes: new Set(['admin']),
    audience: 'any',
    customerId: null,
    confinedTo: null,
    limits: null,
    expiresAt: null,
    sessionHash: null,
    tokenHash: null,
  };
  const execution = (operationId: string, call: Call, headers: RouteInput['headers'] = {}) => {
    const route = app.routes.find((one) => one.operationId === operationId);
    assert.ok(route !== undefined, operationId);
    const { params = {}, body, principal = operator, receive = null } = call;
    return execute(route, {
      url: `/${operationId}`,
      params,
      query: new URLSearchParams(),
      headers,
      body: body === undefined ? { bytes: undefined, mediaType: undefined } : { value: body },
      principal,
      noteTool: () => undefined,
      noteIgnored: () => undefined,
      inner: () => assert.fail('no route runs another one'),
      origin: context.origin,
      transaction: context.transaction,
      idempotency,
      clientIp: () => '192.0.2.1',
      visitorIp: () => null,
      rateLimitStatus: () => null,
      openConnection: () => assert.fail('no response stays open'),
      countAs: () => undefined,
      receive,
    });
  };
  return { app, accountId, context, execution };
}

type Shop = Awaited<ReturnType<typeof openRoutes>>;

/** A form with a small image, as it is on disk once it was received. */
async function imageForm(t: Scope): Promise<ReceivedForm> {
  const bytes = await imageIn('png');
  const path = join(await temporaryFolder(t), 'image');
  await writeFile(path, bytes);
  const file = {
    path,
    mediaType: 'image/png',
    extension: 'png',
    bytes: bytes.length,
    digest: async () => 'digest',
    head: bytes,
  };
  return { file, fields: new URLSearchParams(), misplaced: [] };
}

/** Registers a customer and logs in. */
async function logIn({ app, execution }: Shop, username: string): Promise<Principal> {
  const body = { username, email: `${username}@example.com`, password };
  await execution('registerCustomer', { body, principal: null });
  const response = await execution('loginCustomer', { body: { username, password }, principal: null });
  const { token: text } = response.body as unknown as { token: string };
  const principal = await app.auth.sessions.resolve({ place: 'authorization', text });
  assert.ok(typeof principal === 'object' && 'kind' in principal);
  return principal;
}

const textOf = ({ body }: RouteResponse) => JSON.stringify(body);

suite('execute', () => {
  test('execute() runs POST routes of each area, and replays their responses for a used idempotency key', async (t) => {
    const shop = await openRoutes(t);
    const { app, accountId, context, execution } = shop;
    const { id: keyId } = await app.auth.keys.create(context, accountId, {});
    const form = await imageForm(t);
    const customer = { username: 'ada', email: 'ada@example.com', password };
    const session = await logIn(shop, 'grace');
    const shippingAddress = { street: 'Kramgasse 1', city: 'Bern', zipCode: '3011', country: 'CH' };
    const calls: Readonly<Record<string, Call & { readonly status: number }>> = {
      createCheese: { body: { name: 'Execute' }, status: 201 },
      updateCheese: { params: { cheeseId: '3' }, body: { name: 'Renamed' }, status: 200 },
      uploadCheeseImage: { params: { cheeseId: '1' }, receive: async () => form, status: 200 },
      placeOrder: { body: { items: [{ cheeseId: 1, quantity: 1 }], shippingAddress }, status: 201 },
      approveOrder: { params: { orderId: '1' }, status: 200 },
      shipOrder: { params: { orderId: '3' }, status: 200 },
      deliverOrder: { params: { orderId: '5' }, status: 200 },
      registerCustomer: { body: customer, principal: null, status: 201 },
      registerCustomers: {
        body: [{ username: 'bob', email: 'bob@example.com', password }, { username: 'eve' }],
        status: 200,
      },
      loginCustomer: { body: { username: 'ada', password }, principal: null, status: 200 },
      logoutCustomerSafely: { principal: session, status: 204 },
      createApiKey: { body: {}, status: 201 },
      rotateApiKey: { params: { keyId: String(keyId) }, body: {}, status: 201 },
    };
    for (const [operationId, { status, ...call }] of Object.entries(calls)) {
      const headers = { 'idempotency-key': operationId };
      const response = await execution(operationId, call, headers);
      assert.equal(response.status, status, operationId);
      if (operationId !== 'logoutCustomerSafely') {
        const replay = await execution(operationId, call, headers);
        assert.equal(replay.status, status, operationId);
        assert.equal(replay.headers?.['Idempotency-Replayed'], 'true', operationId);
        assert.equal(textOf(replay), textOf(response), operationId);
      }
    }
  });

  test('execute() validates the body, and returns the error of a service', async (t) => {
    const { execution } = await openRoutes(t);
    const codeOf = (code: string) => (error: unknown) => error instanceof AppError && error.code === code;
    await assert.rejects(async () => execution('createCheese', { body: { name: '' } }), codeOf('validation'));
    await assert.rejects(
      async () => execution('createCheese', { body: { name: 'A' } }, { 'idempotency-key': '' }),
      codeOf('badRequest'),
    );
    await assert.rejects(
      async () => execution('getCheese', { params: { cheeseId: '0' } }),
      codeOf('notFound'),
    );
    const { status } = await execution('getCheese', { params: { cheeseId: '1' } });
    assert.equal(status, 200);
  });
});
