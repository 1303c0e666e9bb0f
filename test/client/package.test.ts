/** The package as its users get it: the tarball of `npm pack`, in a project of its own. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { extract, list } from 'tar';
import { openPage, useChromium } from '../browser/chromium.ts';
import { bern, shared, temporaryFolder } from '../context.ts';
import { operationsOf } from '../fuzz/openapi.ts';
import { read } from '../gates/sources.ts';
import { openListeningShop } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { openReceiver } from '../webhooks/receiver.ts';
import { deliver, registerEndpoint } from '../webhooks/webhook-shop.ts';
import { openProxy } from './proxy.ts';

useChromium();

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * A project with the package, which "npm test" has built. Its dependencies are those of this repository, so no registry is
 * needed.
 */
const project = shared(async (t) => {
  const folder = await temporaryFolder(t);
  const installed = join(folder, 'node_modules', '@curd', 'client');
  mkdirSync(installed, { recursive: true });
  const pack = ['pack', '--ignore-scripts', '--workspace', 'client', '--pack-destination', folder];
  await run('npm', pack, { cwd: root });
  const { name, version, dependencies } = JSON.parse(read('client/package.json'));
  const tarball = join(folder, `${name.slice(1).replace('/', '-')}-${version}.tgz`);
  await extract({ file: tarball, cwd: installed, strip: 1 });
  for (const dependency of Object.keys(dependencies)) {
    symlinkSync(join(root, 'node_modules', dependency), join(folder, 'node_modules', dependency));
  }
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  writeFileSync(join(folder, 'use.js'), use);
  return { folder, installed, tarball };
});

/** Lists, places an order, streams and verifies. */
const use = `
import { Curd } from '@curd/client';
import { verify } from '@curd/client/webhooks';

export async function use({ baseUrl, apiKey, order, delivery, secret }) {
  const curd = new Curd({ baseUrl, apiKey });
  const names = [];
  for await (const { name } of curd.cheeses.list()) {
    names.push(name);
  }
  const placed = await curd.orders.place(order);
  const types = [];
  for await (const event of curd.events.stream({ since: 'earliest', types: ['cheese.created', 'order.placed'] })) {
    types.push(event.type);
    if (event.type === 'order.placed') {
      break;
    }
  }
  const event = await verify(delivery, secret);
  return { names, status: placed.status, types, verified: event.data.name };
}
`;

async function openStage(t: Parameters<typeof openListeningShop>[0]) {
  const shop = await openListeningShop(t);
  const receiver = await openReceiver(t);
  const { secret } = await registerEndpoint(shop, receiver.url);
  const cheeseId = await newCheese(shop, { name: 'Brie' });
  await shop.request('POST', `/v2/cheeses/${cheeseId}`, { as: shop.writer, body: { name: 'Brie' } });
  await shop.request('PATCH', `/v2/cheeses/${cheeseId}`, { as: shop.writer, body: { pricePerKg: 20 } });
  await deliver(shop);
  const [{ text: body = '', headers = {} } = {}] = receiver.received;
  const order = { items: [{ cheeseId, quantity: 1 }], shippingAddress: bern };
  return { shop, input: { apiKey: shop.admin, order, delivery: { headers, body }, secret } };
}

const expected = {
  names: ['Brie'],
  status: 'placed',
  types: ['cheese.created', 'order.placed'],
  verified: 'Brie',
};

/** The current Node, and another one of the PATH that the package supports. */
async function nodes(): Promise<Map<string, string>> {
  const found = new Map([[process.version, process.execPath]]);
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, 'node');
    if (existsSync(path)) {
      const { stdout } = await run(path, ['--version']);
      if (Number(/\d+/.exec(stdout)?.[0]) >= 20) {
        found.set(stdout.trim(), path);
      }
    }
  }
  return found;
}

suite('The package', () => {
  test('The client package contains what its entries name, a license and a README, and no sources or tests', () => {
    const { installed } = project();
    const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const paths = (entry: object | string): string[] =>
      typeof entry === 'string' ? [entry] : Object.values(entry).flatMap(paths);
    for (const path of paths(exports)) {
      assert.ok(existsSync(join(installed, path)), path);
    }
    for (const path of ['README.md', 'LICENSE']) {
      assert.ok(existsSync(join(installed, path)), path);
    }
    assert.ok(!existsSync(join(installed, 'src')));
  });

  test('The client package has no problem that publint knows', async () => {
    const { tarball } = project();
    const { stdout } = await run(process.execPath, [join(root, 'node_modules/publint/src/cli.js'), tarball]);
    assert.match(stdout, /All good!/);
  });

  test('The client package is the package that the build leaves for servers, whose bytes depend on the sources alone', async () => {
    const { tarball } = project();
    const offered = join(root, 'client/dist/client.tgz');
    const times = new Set<number | undefined>();
    const contentsOf = async (file: string) => {
      const contents = new Map<string, string>();
      await list({
        file,
        onReadEntry: (entry) => {
          if (file === offered && entry.type === 'File') {
            times.add(entry.mtime?.getTime());
          }
          const pieces: Buffer[] = [];
          entry.on('data', (piece) => pieces.push(piece));
          entry.on('end', () => {
            if (entry.type === 'File') {
              contents.set(entry.path, Buffer.concat(pieces).toString());
            }
          });
        },
      });
      return new Map([...contents].toSorted());
    };
    assert.deepEqual(await contentsOf(offered), await contentsOf(tarball));
    assert.deepEqual([...times], [0], 'no time of the build');
  });

  test('The client package lists, places an order, streams and verifies on each Node, which ends after the last request', async (t) => {
    const { shop, input } = await openStage(t);
    const { folder } = project();
    const versions = await nodes();
    t.diagnostic([...versions.keys()].join(', '));
    const values = JSON.stringify({ ...input, baseUrl: shop.url });
    writeFileSync(
      join(folder, 'run.js'),
      `import { use } from './use.js'; console.log(JSON.stringify(await use(${values})));`,
    );
    const commonJs = use
      .replace(/import (\{.*\}) from ('.*');/g, 'const $1 = require($2);')
      .replace('export async', 'async');
    assert.doesNotMatch(commonJs, /import|export/);
    writeFileSync(
      join(folder, 'run.cjs'),
      `${commonJs} use(${values}).then((result) => console.log(JSON.stringify(result)));`,
    );
    for (const [version, node] of versions) {
      for (const file of ['run.js', 'run.cjs']) {
        const { stdout } = await run(node, [file], { cwd: folder, timeout: 30_000 });
        assert.deepEqual(JSON.parse(stdout), expected, `${file} on ${version}`);
      }
    }
  });

  test('The client package has one class of errors for import and for require, and loads each entry by require', async () => {
    const { folder } = project();
    writeFileSync(
      join(folder, 'both.cjs'),
      `const { isCurdError, NotFound, Curd } = require('@curd/client');
      const { WebhookRefused } = require('@curd/client/webhooks');
      const { clientCredentials, signIn } = require('@curd/client/oauth');
      const { createShop } = require('@curd/client/browser');
      import('@curd/client').then((other) => {
        const error = new NotFound('none', { type: 'not_found' });
        console.log([Curd, WebhookRefused, clientCredentials, signIn, createShop].every((one) => typeof one === 'function'), other.isCurdError(error, 'not_found'));
      });`,
    );
    for (const [version, node] of await nodes()) {
      const { stdout } = await run(node, ['both.cjs'], { cwd: folder });
      assert.equal(stdout, 'true true\n', version);
    }
  });

  test("The client package lists, places an order, streams and verifies in a page with default-src 'self'", async (t) => {
    const opened = await openPage(t);
    if (opened === null) {
      return;
    }
    const { page, complaints } = opened;
    const { shop, input } = await openStage(t);
    const { folder } = project();
    const { outputFiles } = await build({
      stdin: {
        contents:
          "import { use } from './use.js'; import { Curd } from '@curd/client'; Object.assign(globalThis, { use, Curd });",
        resolveDir: folder,
      },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    });
    const files: Record<string, { status: number; headers: Record<string, string>; body: string }> = {
      '/': {
        status: 200,
        headers: { 'Content-Type': 'text/html', 'Content-Security-Policy': "default-src 'self'" },
        body: '<!doctype html><script type="module" src="/app.js"></script>',
      },
      '/app.js': {
        status: 200,
        headers: { 'Content-Type': 'text/javascript' },
        body: outputFiles[0]?.text ?? '',
      },
      '/favicon.ico': { status: 204, headers: {}, body: '' },
    };
    const proxy = await openProxy(t, shop.url, (_, { url = '' }) => {
      const refuse = files[url];
      return refuse && { refuse };
    });
    await page.goto(`${proxy.url}/`);
    await page.waitForFunction('globalThis.use');
    const values = JSON.stringify({ ...input, baseUrl: proxy.url });
    assert.deepEqual(await page.evaluate(`globalThis.use(${values})`), expected);

    const sent = proxy.requests.length;
    const live = `sk_${'live'}_${'x'.repeat(40)}`;
    const message = await page.evaluate(
      `try { new Curd({ baseUrl: '${proxy.url}', apiKey: '${live}' }); } catch (error) { error.message }`,
    );
    assert.match(String(message), /^Every visitor of this page can read the live API key in it\./);
    assert.equal(proxy.requests.length, sent);
    const allowed = `typeof new Curd({ baseUrl: '${proxy.url}', apiKey: '${live}', allowKeysInBrowsers: true })`;
    assert.equal(await page.evaluate(allowed), 'object');
    assert.deepEqual(complaints, []);
  });

  test('The client package has types that accept the samples of docs/client.md and of the reference, in strict projects', async () => {
    const { folder } = project();
    const [sample = '', typed = '', handled = '', hooks = ''] = [
      ...read('docs/client.md').matchAll(/```ts\n([\s\S]*?)```/g),
    ].map(([, text = '']) => text);
    assert.match(typed, /Query<'listCheeses'>/);
    assert.match(handled, /'rate_limit_exceeded'/);
    assert.match(hooks, /onRetry/);
    writeFileSync(join(folder, 'hooks-sample.ts'), `import { Curd } from '@curd/client';\n${hooks}`);
    writeFileSync(
      join(folder, 'handled-sample.ts'),
      `import { type Body, type Curd, isCurdError } from '@curd/client';
      ${handled}
      declare const curd: Curd;
      declare const order: Body<'placeOrder'>;
      declare const idempotencyKey: string;
      declare const showError: (field: string, message: string) => void;`,
    );
    writeFileSync(
      join(folder, 'typed-sample.ts'),
      `${typed}
      declare const curd: import('@curd/client').Curd;
      declare const shippingAddress: import('@curd/client').Address;`,
    );
    assert.match(sample, /for await/);
    const declarations = `
      declare const process: { readonly env: Record<string, string | undefined> };
      declare const bar: (part: number) => void;
      declare const loadPosition: () => Promise<string | undefined>;
      declare const savePosition: (id: string) => Promise<void>;
      declare const notifyCustomer: (orderId: number, total: number) => Promise<void>;
      declare const handleEvent: (event: object) => Promise<boolean>;`;
    writeFileSync(join(folder, 'sample.ts'), `${sample}${declarations}`);
    const refused = read('test/client/refused.ts');
    assert.ok(refused.split('@ts-expect-error').length > 30);
    writeFileSync(join(folder, 'refused.ts'), refused);
    const environment = 'declare const process: { readonly env: Record<string, string | undefined> };';
    const samples = operationsOf(JSON.parse(read('openapi.json'))).flatMap(
      ({ operationId, 'x-codeSamples': [reference] = [] }) => {
        if (reference === undefined) {
          return [];
        }
        writeFileSync(join(folder, `${operationId}.ts`), `${reference.source}\n${environment}`);
        return [`${operationId}.ts`];
      },
    );
    assert.ok(samples.length > 80);
    const compilerOptions = {
      target: 'es2022',
      module: 'nodenext',
      lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
    };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions,
        files: [
          'sample.ts',
          'typed-sample.ts',
          'handled-sample.ts',
          'hooks-sample.ts',
          'refused.ts',
          ...samples,
        ],
      }),
    );
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc], { cwd: folder }).catch((error) => error);
    assert.equal(stdout, '');
  });

  const settings = {
    'nodenext, in an ES module': { file: 'typed.mts', module: 'nodenext' },
    'node16, in CommonJS': { file: 'typed.cts', module: 'node16' },
    bundler: { file: 'typed.ts', module: 'esnext', moduleResolution: 'bundler' },
    'commonjs, with the resolution of Node 10': {
      file: 'old.ts',
      module: 'commonjs',
      moduleResolution: 'node10',
    },
  };
  for (const [name, { file, ...options }] of Object.entries(settings)) {
    test(`The client package has types for ${name}, checked with the types of all packages`, async () => {
      const { folder } = project();
      const typed = `import { Curd, type Cheese, NotFound } from '@curd/client';
        import { verify } from '@curd/client/webhooks';
        import { clientCredentials } from '@curd/client/oauth';
        import { createShop } from '@curd/client/browser';
        const page = createShop({ url: 'https://shop.example', publishableKey: 'pk_live_' });
        export const placed: Promise<number> = page.orders
          .place({ items: [], shippingAddress: { street: '', city: '', country: 'CH' } })
          .then(({ total }) => total);
        // @ts-expect-error A page may not change the catalogue.
        page.cheeses.create;
        const token = clientCredentials({ issuer: 'https://shop.example', clientId: 'a', clientSecret: 'b', scope: 'c' });
        const curd = new Curd({ baseUrl: 'https://shop.example', token });
        export async function name(): Promise<string> {
          const cheese: Cheese = await curd.cheeses.get(7);
          // @ts-expect-error A cheese has no such field, so the types are not any.
          cheese.unknown;
          const event = await verify({ headers: {}, body: '' }, 'whsec_');
          return event.type + cheese.name + new NotFound('', { status: 404 } as NotFound).type;
        }`;
      writeFileSync(join(folder, file), typed);
      const config = `tsconfig.${file}.json`;
      const compilerOptions = {
        target: 'es2022',
        lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
        types: [],
        strict: true,
        noEmit: true,
        ...options,
      };
      writeFileSync(join(folder, config), JSON.stringify({ compilerOptions, files: [file] }));
      // TypeScript 7 is faster, and has no resolution of Node 10.
      const tsc = join(root, file === 'old.ts' ? 'client' : '', 'node_modules/typescript/bin/tsc');
      const { stdout } = await run(process.execPath, [tsc, '-p', config], { cwd: folder }).catch(
        (error) => error,
      );
      assert.equal(stdout, '');
    });
  }
});
