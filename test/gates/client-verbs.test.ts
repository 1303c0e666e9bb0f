/** Each operation of the API is one verb of the client. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite, type TestContext, test } from 'node:test';
import { Area } from '../../client/src/areas/area.ts';
import areas from '../../client/src/areas/verbs.json' with { type: 'json' };
import { Curd } from '../../client/src/index.ts';
import { read } from './sources.ts';

/** Operations that only repeat another path, for older clients. */
const aliases = /^\/v2\/(oauth\/|openapi\.json$)/;
const { paths } = JSON.parse(read('openapi.json')) as {
  readonly paths: Record<
    string,
    Record<
      string,
      { readonly operationId: string; readonly 'x-codeSamples'?: readonly { readonly source: string }[] }
    >
  >;
};

/** The operations below /v2, by method and path, with 1 for each parameter. */
const operations = new Map(
  Object.entries(paths)
    .filter(([path]) => path.startsWith('/v2/') && !aliases.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [
        `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '1')}`,
        operationId,
      ]),
    ),
);

interface AreaTable {
  readonly verbs: Readonly<Record<string, string>>;
  readonly byHand?: Readonly<Record<string, string | null>>;
}

/** The table: `['cheeses.list', 'listCheeses']`. A method that combines operations has null. */
const table = Object.entries(areas as Readonly<Record<string, AreaTable>>).flatMap(
  ([area, { verbs, byHand = {} }]) =>
    Object.entries({ ...verbs, ...byHand }).map(
      ([verb, operation]) => [`${area}.${verb}`, operation] as const,
    ),
);

type Verb = (...values: unknown[]) => unknown;

/** All methods of all areas: `cheeses.list`. */
function verbsOf(curd: Curd): [name: string, verb: Verb][] {
  return Object.entries(curd)
    .filter(([, value]) => value instanceof Area)
    .flatMap(([area, object]) => {
      const byHand: object = Object.getPrototypeOf(object);
      const generated: object = Object.getPrototypeOf(byHand);
      const methods = [byHand, generated].flatMap((one) =>
        Object.entries(Object.getOwnPropertyDescriptors(one)),
      );
      return methods
        .filter(([verb]) => verb !== 'constructor')
        .map(([verb, { value }]): [string, Verb] => [`${area}.${verb}`, (value as Verb).bind(object)]);
    });
}

/** `uploadCheeseImage` begins with `upload`, and so does its verb. */
const firstWord = (name: string) => /^[a-z]+/.exec(name)?.[0];

/** A server that refuses all requests, and their paths. */
async function openRecorder(t: TestContext) {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(`${request.method} ${request.url?.split('?', 1)[0]}`);
    response.writeHead(400).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { received, baseUrl: `http://127.0.0.1:${port}` };
}

suite('The verbs of the client', () => {
  test('The verbs of the client are in verbs.json, which has each operation of openapi.json exactly once', () => {
    const named = table.flatMap(([, operation]) => operation ?? []);
    assert.deepEqual(
      named.sort(),
      [...operations.values()].sort(),
      'add each new operation to client/src/areas/verbs.json: see docs/adding-an-endpoint.md',
    );
    const verbs = verbsOf(new Curd({ baseUrl: 'http://localhost' }));
    assert.deepEqual(verbs.map(([name]) => name).sort(), table.map(([name]) => name).sort());
  });

  test('The verbs of the client send the request of their operation, and are named after it', async (t) => {
    const { received, baseUrl } = await openRecorder(t);
    const verbs = new Map(verbsOf(new Curd({ baseUrl })));
    assert.ok(verbs.size > 30);
    for (const [name, operation] of table.filter((row) => row[1] !== null)) {
      received.length = 0;
      // Ones are valid in every place of a path; elsewhere the server here accepts anything.
      const first = name === 'events.stream' ? { since: 'earliest' } : 1;
      const second = name === 'cheeses.uploadImage' ? new Blob() : 1;
      const result = verbs.get(name)?.(first, second, 1, 1) as AsyncIterator<unknown> & PromiseLike<unknown>;
      await ('next' in result ? result.next() : result).then(
        () => assert.fail(`${name} does not report the 400 of the server`),
        () => undefined,
      );
      assert.deepEqual(
        received.map((one) => operations.get(one)),
        [operation],
        name,
      );
      assert.equal(
        firstWord(name.split('.')[1] ?? ''),
        firstWord(operation ?? ''),
        `${name} is ${operation}`,
      );
    }
  });

  test('The verbs of the client have a sample in openapi.json, which sends the request of its operation', async (t) => {
    const { received, baseUrl } = await openRecorder(t);
    class RecordedCurd extends Curd {
      constructor(options: object) {
        super({ ...options, baseUrl });
      }
    }
    const fetchFile = async (...request: Parameters<typeof fetch>) =>
      /^\/\w+\.\w+$/.test(String(request[0])) ? new Response('') : fetch(...request);
    const sampled: string[] = [];
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { operationId, 'x-codeSamples': samples = [] }] of Object.entries(methods)) {
        for (const { source } of samples) {
          received.length = 0;
          const code = source.replace("import { Curd } from '@curd/client';", '');
          const run = new Function('Curd', 'fetch', `return (async () => {${code}})()`);
          await assert.rejects(run(RecordedCurd, fetchFile), { status: 400 }, operationId);
          const [last = ''] = received.slice(-1);
          const expected = new RegExp(`^${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '[^/]+')}$`);
          // A stream that begins at the end of the log asks for its position first.
          assert.match(operationId === 'streamEvents' ? `${last}/stream` : last, expected);
          sampled.push(operationId);
        }
      }
    }
    assert.deepEqual(sampled.sort(), [...operations.values()].sort());
  });
});
