/** Every parameter, and every text of every body, with texts that a database or a protocol cannot take: one at a time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageIn } from '../api/image-forms.ts';
import { onBothEngines } from '../helper.ts';
import { openListeningShop } from '../oauth/flow.ts';
import { type Draft, draftOf, type JsonSchema, type Operation, operationsOf, randomOf } from './openapi.ts';
import { createWorld, credentialsFor, knownTo, type World } from './world.ts';

const long = 'x'.repeat(10_000);
/** Percent-encoded. */
const inUrls: Readonly<Record<string, string>> = {
  NUL: '%00',
  'NUL in a text': 'a%00b',
  'half of a surrogate pair': '%ED%A0%80',
  'no UTF-8': '%FF',
  '10,000 characters': long,
};
/** As bytes. NUL cannot be sent: the HTTP parser refuses it. */
const inHeaders: Readonly<Record<string, string>> = {
  'half of a surrogate pair': '\xed\xa0\x80',
  'no UTF-8': '\xff',
  '10,000 characters': long,
};
const inBodies: Readonly<Record<string, string>> = {
  NUL: '\0',
  'NUL in a text': 'a\0b',
  'half of a surrogate pair': '\ud800',
  '10,000 characters': long,
};

/** Headers that every request may have, and that are stored or compared. */
const commonHeaders = [
  'x-request-id',
  'traceparent',
  'if-none-match',
  'prefer',
  'range',
  'origin',
  'user-agent',
];
const operationsWithCommonHeaders = ['createCheese', 'listCheeses', 'getCheese', 'placeOrder'];

interface Place {
  readonly in: 'path' | 'query' | 'header' | 'body';
  readonly name: string;
  /** In a body: the names and indexes that lead to the text. */
  readonly steps?: readonly string[];
}

/** The places of a body that take a text. */
function textsOf(schema: JsonSchema, steps: readonly string[] = []): Place[] {
  const inside = [
    ...Object.entries(schema.properties ?? {}),
    ...(schema.items === undefined ? [] : [['0', schema.items] as const]),
  ].flatMap(([name, one]) => textsOf(one, [...steps, name]));
  const isText = [schema.type].flat().includes('string') && schema.enum === undefined && !schema.readOnly;
  return isText ? [{ in: 'body', name: steps.join('.'), steps }, ...inside] : inside;
}

function placesOf({ operationId, parameters, requestBody }: Operation): Place[] {
  const isCommon = operationsWithCommonHeaders.includes(operationId);
  return [
    ...parameters,
    ...(isCommon ? commonHeaders : []).map((name): Place => ({ name, in: 'header' })),
    ...Object.entries(requestBody?.content ?? {})
      .slice(0, 1)
      .flatMap(([, { schema }]) => textsOf(schema)),
  ];
}

/** The value with the text at the place, and with what leads to it. */
function withText(value: unknown, [step, ...others]: readonly string[], text: string): unknown {
  if (step === undefined) {
    return text;
  }
  if (step === '0') {
    const [first, ...rest] = Array.isArray(value) ? value : [];
    return [withText(first, others, text), ...rest];
  }
  const members = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return { ...members, [step]: withText(members[step], others, text) };
}

/** The media type and the text of the body. */
function bodyOf({ requestBody }: Operation, { body, raw }: Draft): [type: string, body: string | Uint8Array] {
  const [type = 'application/json'] = Object.keys(requestBody?.content ?? {});
  const isForm = type === 'application/x-www-form-urlencoded';
  return [type, raw ?? (isForm ? String(new URLSearchParams(body as never)) : JSON.stringify(body))];
}

onBothEngines('Every parameter of every operation, and every text of every body', (engine) => {
  test('Every parameter, and every text of a body, is refused or taken as a text when it is hostile, and never a 5xx', async (t) => {
    const shop = await openListeningShop(t, { engine });
    const operations = operationsOf(shop.app.describe());
    const world = createWorld(shop);
    const image = await imageIn('png');
    const failures: string[] = [];
    let requests = 0;

    async function send(operation: Operation, place: Place, text: string): Promise<number> {
      const draft = draftOf(operation, randomOf(1), await knownTo(operation, world), image);
      const values = await pathValues(operation, world);
      const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
        place.in === 'path' && name === place.name ? text : (values[name] ?? '1'),
      );
      const query = draft.query
        .filter(([name]) => place.in !== 'query' || name !== place.name)
        .map(([name, one]) => `${name}=${encodeURIComponent(one)}`);
      if (place.in === 'query') {
        query.push(`${place.name}=${text}`);
      }
      if (place.steps !== undefined && draft.raw === undefined) {
        draft.body = withText(draft.body, place.steps, text);
      }
      const hasBody = draft.body !== undefined || draft.raw !== undefined;
      const [type, body] = hasBody ? bodyOf(operation, draft) : ['', ''];
      const isDry = operation.parameters.some(({ name }) => name === 'Dry-Run');
      const stop = new AbortController();
      const { status } = await fetch(`${shop.url}${path}?${query.join('&')}`, {
        method: operation.method,
        redirect: 'manual',
        signal: stop.signal,
        headers: {
          ...(hasBody ? { 'content-type': type } : {}),
          ...(await credentialsFor(operation, shop, world)),
          ...draft.headers,
          // Nothing changes, so that all requests find the same resources.
          ...(isDry ? { 'dry-run': 'true' } : {}),
          ...(place.in === 'header' ? { [place.name]: text } : {}),
        },
        ...(hasBody ? { body: body as never } : {}),
      });
      // A stream does not end.
      stop.abort();
      requests += 1;
      const mayChange = operation.method !== 'GET' || operation.path.endsWith('logout');
      if (status < 300 && !isDry && mayChange) {
        world.forget([...Object.keys(values), 'session', 'account']);
      }
      return status;
    }

    for (const operation of operations) {
      for (const place of placesOf(operation)) {
        const texts = place.in === 'header' ? inHeaders : place.in === 'body' ? inBodies : inUrls;
        for (const [what, text] of Object.entries(texts)) {
          const status = await send(operation, place, text).catch((error) => error.cause ?? error);
          if (typeof status !== 'number' || status >= 500) {
            failures.push(`${operation.operationId}, ${place.in} ${place.name}: ${what}: ${status}`);
          }
        }
      }
    }
    assert.deepEqual(failures, []);
    t.diagnostic(`${requests} requests`);
    assert.ok(requests > 1500, String(requests));
  });
});

async function pathValues({ operationId, parameters }: Operation, world: World) {
  const values: Record<string, string> = {};
  for (const { name } of parameters.filter((one) => one.in === 'path')) {
    const isTracked = name === 'cheeseId' && /^(get|delete|adjust)CheeseStock$/.test(operationId);
    values[name] = await world.get(isTracked ? 'trackedCheeseId' : name);
  }
  return values;
}
