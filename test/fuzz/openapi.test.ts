/**
 * Sends broken requests to every operation of the OpenAPI document. CURD_TEST_SEED repeats a run, and CURD_TEST_FUZZ is
 * the number of requests.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/schema';
import { imageIn } from '../api/image-forms.ts';
import { onBothEngines, openShop, type TestResponse } from '../helper.ts';
import { openListeningShop } from '../oauth/flow.ts';
import { draftOf, type JsonSchema, type Operation, operationsOf, randomOf, spoil, urlOf } from './openapi.ts';
import { createWorld, credentialsFor, knownTo } from './world.ts';

const seed = Number(process.env.CURD_TEST_SEED ?? 20_260_601);
/** For both engines together. */
const requests = Number(process.env.CURD_TEST_FUZZ ?? 800);

const validators = new WeakMap<JsonSchema, (value: unknown) => boolean>();

function fits(schema: JsonSchema, value: unknown): boolean {
  let check = validators.get(schema);
  if (check === undefined) {
    const compiled = Compile(plain(schema) as object);
    check = (candidate) => compiled.Check(candidate);
    validators.set(schema, check);
  }
  return check(value);
}

/** The schema without formats and examples, which permits no undeclared members. */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) {
    return schema.map(plain);
  }
  if (schema === null || typeof schema !== 'object') {
    return schema;
  }
  const { format: _, examples: _examples, ...rest } = schema as JsonSchema;
  const own = rest.properties !== undefined && typeof rest.type === 'string';
  return {
    ...Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, plain(one)])),
    ...(own ? { additionalProperties: false } : {}),
  };
}

/** What the document promises for every response. */
function assertPromised(operation: Operation, method: string, response: TestResponse): void {
  const { status, headers, text, json } = response;
  assert.ok(status < 500 || status === 503, `${status}`);
  assert.match(headers['x-request-id'] ?? '', /^[\w.-]+$/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['x-injected'], undefined);
  if (status === 503) {
    assert.match(headers['retry-after'] ?? '', /^\d+$/);
  }
  if (method === operation.method && status !== 304) {
    const promised = operation.responses[status];
    assert.ok(promised !== undefined, `${status} is not documented`);
    const schema = promised.content?.['application/json']?.schema;
    const isProblem = String(headers['content-type']).startsWith('application/problem+json');
    if (headers['content-encoding'] !== 'gzip') {
      assert.equal(
        json !== undefined,
        schema !== undefined,
        'a body where the document has one, and nowhere else',
      );
    }
    if (schema !== undefined && json !== undefined && !isProblem) {
      assert.ok(fits(schema, json), 'the body does not fit its schema');
    }
  }
  // Errors of the protocol have its form.
  const isOfProtocol = operation.operationId === 'sendMcpMessage' && json?.jsonrpc === '2.0';
  if (status >= 400 && method !== 'HEAD' && !isOfProtocol) {
    assert.equal(json?.code, status);
    assert.ok(typeof json.message === 'string' && json.message !== '');
    const fields = json.errors?.length ?? 0;
    assert.ok(status === 422 ? fields > 0 : fields === 0 || [400, 409].includes(status), 'errors of fields');
    assert.doesNotMatch(text, /node_modules|\bat \/|sqlite|postgres|select |TypeError/i);
  }
}

/** One has a response without an end. The others take away what further requests need: sessions end, rows are gone. */
const excluded = ['streamEvents', 'advanceSandboxClock', 'resetSandbox', 'restoreSnapshot'];

const takesCredentials = ({ security }: Operation) => security.length > 0;

onBothEngines('Every operation that takes credentials', (engine) => {
  test('Every operation that takes credentials returns only documented responses to broken requests', async (t) => {
    const shop = await openShop(t, { engine });
    const { json: document } = await shop.request('GET', '/openapi.json');
    // The next test sends garbage to the others.
    const operations = operationsOf(document)
      .filter(takesCredentials)
      .filter(({ operationId }) => !excluded.includes(operationId));
    const world = createWorld(shop);
    const image = await imageIn('png');
    const good = new Set<string>();
    /** One resource of each kind. */
    const failures = new Map<string, string>();
    // Requests of the first four rounds are not spoiled, and some of them are refused.
    const rounds = Math.max(6, Math.ceil(requests / 2 / operations.length));

    async function send(operation: Operation, round: number): Promise<void> {
      const random = randomOf(seed + 7919 * round + operations.indexOf(operation));
      const draft = draftOf(operation, random, await knownTo(operation, world), image);
      if (round > 3) {
        spoil(draft, operation, random);
      }
      const values: Record<string, string> = {};
      for (const { name } of operation.parameters.filter((one) => one.in === 'path')) {
        const isTracked =
          name === 'cheeseId' && /^(get|delete|adjust)CheeseStock$/.test(operation.operationId);
        const isShipped = operation.operationId === 'replaceOrderShipment';
        values[name] = await world.get(isTracked ? 'trackedCheeseId' : isShipped ? 'shippedOrderId' : name);
      }
      const headers = { ...(await credentialsFor(operation, shop, world)), ...draft.headers };
      const url = urlOf(draft, operation, values);
      const raw = draft.raw ?? (draft.body === undefined ? undefined : JSON.stringify(draft.body));
      const isElsewhere = Object.values(draft.path).some((text) => text === '' || text === '%zz%');
      try {
        const response = await shop.request(draft.method, url, {
          headers,
          ...(raw === undefined ? {} : { raw }),
        });
        assertPromised(isElsewhere ? { ...operation, method: 'none' } : operation, draft.method, response);
        const mayRefuse =
          ['loginCustomer', 'signInToConsole'].includes(operation.operationId) ||
          'authorization' in draft.headers;
        assert.ok(response.status !== 401 || mayRefuse, '401 to a valid credential');
        if (response.status < 300 && draft.method === operation.method) {
          good.add(operation.operationId);
          const isDryRun = response.headers['dry-run'] !== undefined;
          if (!isDryRun && (operation.method !== 'GET' || operation.path.endsWith('logout'))) {
            // The next transitions of the order are shipped and delivered.
            const isTransition = /\/(approve|ship)$/.test(operation.path);
            const others = 'username' in values ? ['orderId'] : [];
            world.forget(
              isTransition
                ? []
                : [
                    ...Object.keys(values),
                    ...others,
                    'session',
                    'account',
                    'trackedCheeseId',
                    'customerId',
                    'approvalId',
                  ],
            );
          }
        }
      } catch (error) {
        const said = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
        const what = `${operation.operationId}: ${said}`;
        const body = typeof raw === 'string' ? raw.slice(0, 300) : (raw && '(bytes)') || '';
        const sent = `round ${round}, [${draft.changes}] ${draft.method} ${url.slice(0, 300)}`;
        failures.set(what, `${what}\n  ${sent} ${JSON.stringify(draft.headers).slice(0, 300)} ${body}`);
      }
    }

    for (let round = 0; round < rounds; round += 1) {
      for (const operation of operations) {
        await send(operation, round);
      }
    }
    assert.equal(failures.size, 0, [`CURD_TEST_SEED=${seed}`, ...failures.values()].join('\n'));
    t.diagnostic(`${rounds * operations.length} requests, seed ${seed}`);
    // A delivery exists only after a webhook was sent, and a request once it was written; only a token of the console can
    // sign out of it, and imports need the form of a file.
    // Others need several values that fit each other, or approvals that earlier requests have used up.
    const without = [
      'changeCheeses',
      'createApiKey',
      'denyApproval',
      'listRequests',
      'listSalesByCategory',
      'listSalesByCountry',
      'listSalesByCustomer',
      'sendMcpMessage',
      'getRequest',
      'importCheeses',
      'getWebhookDelivery',
      'retryWebhookDelivery',
      'signOutOfConsole',
    ];
    const never = operations
      .map(({ operationId }) => operationId)
      .filter((id) => !good.has(id) && !without.includes(id));
    assert.deepEqual(never, [], 'no valid example was taken');
  });
});

test('The pages, the OAuth endpoints and the operational routes return no 5xx to garbage', async (t) => {
  const shop = await openListeningShop(t);
  const { json: document } = await shop.request('GET', '/openapi.json');
  const others = operationsOf(document).filter((operation) => !takesCredentials(operation));
  const pathOf = ({ path }: Operation) => path.replace(/\{\w+\}/g, 'x%00');
  const paths = [...new Set(others.map(pathOf))];
  assert.ok(paths.length >= 20);
  const names = [
    'client_id',
    'redirect_uri',
    'scope',
    'state',
    'code',
    'grant_type',
    'token',
    '__proto__',
    '',
  ];
  const types = ['application/x-www-form-urlencoded', 'application/json', 'multipart/form-data', 'nonsense'];
  const texts = [
    '',
    '\0',
    '%',
    '{',
    '\ufffd',
    'x'.repeat(5000),
    '../..',
    'https://[',
    '😀',
    '[object Object]',
  ];
  for (let round = 0; round < Math.max(2, requests / 300); round += 1) {
    for (const path of paths) {
      const random = randomOf(seed + round * 7919 + paths.indexOf(path));
      const method = random.pick(['GET', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']);
      const garbage = Array.from({ length: random.below(5) }, () => [random.pick(names), random.pick(texts)]);
      const form = new URLSearchParams(garbage).toString();
      const url = `${shop.url}${path}?${random.chance(0.5) ? form : random.pick(['%zz', '&&=', 'a[b]=c'])}`;
      const headers = {
        'content-type': random.pick(types),
        accept: random.pick(['*/*', 'text/html', 'nonsense']),
        ...(random.chance(0.3)
          ? { authorization: random.pick(['Basic', 'Basic %%%', 'Basic Og==', 'Bearer x']) }
          : {}),
        ...(random.chance(0.3)
          ? { cookie: random.pick(['curd_session=x; =; ;', 'curd_session.sig=%']) }
          : {}),
        ...(random.chance(0.2) ? { origin: 'null' } : {}),
      };
      const takesBody = method !== 'GET' && method !== 'HEAD';
      const body = takesBody ? random.pick([form, '{', '[1', `${form}&%zz`, 'x'.repeat(70_000)]) : null;
      const what = `CURD_TEST_SEED=${seed}, round ${round}: ${method} ${url} ${JSON.stringify(headers)} ${body}`;
      const response = await fetch(url, { method, headers, body, redirect: 'manual' });
      const text = await response.text();
      assert.ok(response.status < 500, `${what.slice(0, 900)}: ${response.status} ${text}`);
      const operation = others.find((one) => one.method === method && pathOf(one) === path);
      assert.ok(
        operation === undefined ||
          response.status === 304 ||
          Object.hasOwn(operation.responses, response.status),
        `${what.slice(0, 900)}: ${response.status} is not documented ${text}`,
      );
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff', what.slice(0, 900));
      assert.equal(response.headers.get('x-environment'), 'local', what.slice(0, 900));
    }
  }
  assert.equal((await fetch(`${shop.url}/readyz`)).status, 200);
});
