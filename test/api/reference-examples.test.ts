/**
 * Sends the examples of the reference page: each of them must return a documented success. Each change is sent as a dry
 * run before, which must return the same status and leave no trace.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillDemoCatalogue } from '../../src/app/demo/demo.ts';
import { sql } from '../../src/database/sql.ts';
import { hasDryRun, isChange } from '../../src/http/route.ts';
import { restoreTestOrders } from '../../src/orders/test-orders.ts';
import { contentsOf } from '../database/contents.ts';
import { onBothEngines, openShop, type Shop } from '../helper.ts';
import { bodyOf, boundary, filePart, imageIn } from './image-forms.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly example?: string | number | boolean;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Schema {
  readonly $ref?: string;
  readonly examples?: readonly unknown[];
}

/** Operations in the order of the document, with those that delete or end something last. */
const ending = [
  'deliverOrder',
  'deleteCheeseStock',
  'cancelOrder',
  'deleteCheese',
  'logoutCustomer',
  'logoutCustomerSafely',
  'deleteCustomer',
  'revokeApiKey',
  'rotateApiKey',
  'disableWebhookEndpoint',
  'deleteWebhookEndpoint',
  'advanceSandboxClock',
  'restoreSnapshot',
  'deleteSnapshot',
  'resetSandbox',
];

/** These need an order of a customer, for which two credentials are sent. */
const ofCustomers = [
  'getOrderCustomer',
  'getCustomerOrder',
  'getCustomerOrderShipment',
  'getCustomerOrderTimeline',
  'cancelCustomerOrder',
];

/** It needs a request with an idempotency key. */
const ofKeys = ['getIdempotentResponse'];

/** One needs the id of an event, the response of the other does not end. */
const ofEvents = ['getEvent', 'streamEvents'];

/** It needs a file with a table. */
const ofFiles = ['importCheeses'];

/** It needs the id of a client, which is random. */
const ofClients = ['deleteOauthClient'];

/** They need a link, which a command prints. */
const ofConsole = ['signInToConsole', 'signOutOfConsole'];

/** These need a delivery or a mail, and none was sent. */
const ofDeliveries = ['getWebhookDelivery', 'retryWebhookDelivery', 'previewMail', 'retryMail'];

onBothEngines('The reference', (engine) => {
  test('The reference has an example for every operation that can be tried without preparation', async (t) => {
    const shop = await openShop(t, { engine });
    const { app } = shop;
    const context = app.contextOf('test');
    await fillDemoCatalogue(app.cheeses.service, context);
    await restoreTestOrders(context);
    const as = await shop.createKey({ scopes: ['write:cheeses', 'write:orders', 'admin'] });
    // The examples of operators are about the seventh customer, and the account and the requests of a partner.
    const people = Array.from({ length: 7 }, (_, place) => ({
      username: `customer${place + 1}`,
      email: `customer${place + 1}@example.com`,
      password: 'correct horse battery',
    }));
    await shop.request('POST', '/v2/customer/createMultiple', { as, body: people });
    const { id: partner } = await app.auth.keys.createAccount(context, 'diary');
    const { clientId } = await app.oauth.clients.create(context, {
      name: 'Diary',
      accountId: partner,
      scopes: ['read:cheeses'],
      redirectUris: ['https://diary.example/callback'],
    });
    for (let customer = 1; customer <= 7; customer += 1) {
      await app.oauth.approvals.request(clientId, customer);
    }
    // The example of a request.
    await shop.request('GET', '/v2/cheeses', { as, headers: { 'x-request-id': 'probe-1' } });
    await shop.app.requestLog.work.run();
    // The example of a snapshot is the third one.
    for (const name of ['first', 'second', 'third']) {
      await shop.request('POST', '/v2/sandbox/snapshots', { as, body: { name } });
    }
    // The examples of stock are about a cheese that is tracked.
    await shop.request('PUT', '/v2/cheeses/1/stock', { as, body: { onHand: 50 } });
    const { json: document } = await shop.request('GET', '/openapi.json');
    const schemaOf = ({ $ref, ...rest }: Schema): Schema =>
      $ref === undefined ? rest : document.components.schemas[$ref.split('/').at(-1) ?? ''];

    const operations = Object.entries(document.paths)
      .flatMap(([path, methods]) =>
        Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
          path,
          method: method.toUpperCase(),
          ...operation,
        })),
      )
      // The others need an OAuth client or an image.
      .filter(({ security, tags }) => security.length > 0 || tags[0] === 'Operation')
      .filter(
        ({ operationId }) =>
          ![
            ...ofCustomers,
            ...ofKeys,
            ...ofEvents,
            ...ofDeliveries,
            ...ofConsole,
            ...ofClients,
            ...ofFiles,
          ].includes(operationId),
      );
    const isEnding = ({ operationId }: Operation) => ending.includes(operationId);
    const ordered = [
      ...operations.filter((one) => !isEnding(one)),
      ...operations
        .filter(isEnding)
        .sort((a, b) => ending.indexOf(a.operationId) - ending.indexOf(b.operationId)),
    ];
    assert.equal(ordered.length, operations.length);

    const login = async () => {
      const { examples = [] } = document.components.schemas.Login;
      return (await shop.request('POST', '/v2/customer/login', { body: examples[0] })).json.token as string;
    };
    let session = '';
    for (const { path, method, operationId, parameters, security, requestBody, responses } of ordered) {
      if (/ogout|Customer$/.test(operationId) && !/register|login/.test(operationId)) {
        session = await login();
      }
      const needsSession =
        security.some((one) => 'session' in one) && !security.some((one) => 'apiKey' in one);
      const values = new Map(parameters.map(({ name, example }) => [name, example]));
      const at = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(values.get(name))));
      const query = new URLSearchParams(
        parameters.flatMap((one) =>
          one.in === 'query' && one.example !== undefined ? [[one.name, String(one.example)]] : [],
        ),
      );
      const inHeaders = parameters.flatMap((one) =>
        one.in === 'header' && one.example !== undefined
          ? [[one.name.toLowerCase(), String(one.example)]]
          : [],
      );
      const schema = requestBody?.content['application/json']?.schema;
      const headers = needsSession ? { authorization: `Bearer ${session}` } : {};
      const body = schema === undefined ? {} : { body: exampleOf(schemaOf(schema), operationId) };
      const upload =
        requestBody?.content['multipart/form-data'] !== undefined && schema === undefined
          ? { raw: bodyOf([filePart(await imageIn('png'))]) }
          : {};
      const type = 'raw' in upload ? { 'content-type': `multipart/form-data; boundary=${boundary}` } : {};
      const url = `${at}${query.size === 0 ? '' : `?${query}`}`;
      const options = {
        ...(needsSession ? {} : { as }),
        headers: { ...headers, ...type, ...Object.fromEntries(inHeaders) },
        ...body,
        ...upload,
      };
      const promised = Object.keys(responses).find((status) => status.startsWith('2'));
      const route = shop.app.routes.find((one) => one.operationId === operationId);
      if (route !== undefined && route.access !== 'operational' && isChange(route)) {
        const before = await traceOf(shop);
        const dry = await shop.request(method, url, {
          ...options,
          headers: { ...options.headers, 'dry-run': 'true' },
        });
        assert.equal(
          String(dry.status),
          hasDryRun(route) ? promised : '400',
          `${operationId} writes in one transaction, or declares dryRun "none": ${dry.text}`,
        );
        assert.deepEqual(await traceOf(shop), before, `the dry run of ${operationId} left something`);
      }
      const response = await shop.request(method, url, options);
      assert.equal(String(response.status), promised, `${method} ${at} ${operationId}: ${response.text}`);
      // Mails with a link are added after the response.
      await shop.app.mail.resets.settled();
    }
  });
});

/** All rows, and on PostgreSQL the sequences, which do not roll back, without that of a trigger, which nothing shows. */
async function traceOf({ app }: Shop): Promise<unknown> {
  const { database } = app;
  const { event = [], ...contents } = await contentsOf(database);
  const sequences =
    database.engine === 'sqlite'
      ? []
      : await database.all(sql`
          select sequencename, last_value from pg_sequences
          where sequencename <> 'order_count_change_id_seq' order by sequencename`);
  // A pass numbers events after their transaction.
  return { ...contents, events: event.length, sequences };
}

function exampleOf({ examples }: Schema, operationId: string): unknown {
  assert.ok(examples?.[0] !== undefined, `${operationId} has no example of its body`);
  return examples[0];
}
