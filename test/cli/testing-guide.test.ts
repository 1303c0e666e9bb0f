/** Ephemeral servers, and the examples of docs/testing.md in a project that has the packages. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { suite, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { startEphemeral } from '../../client/testing/index.ts';
import { cleanUp, type Scope, temporaryFolder, until } from '../context.ts';
import { read } from '../gates/sources.ts';

const run = (program: string, args: readonly string[], options: object) =>
  promisify(execFile)(program, args, { timeout: 120_000, encoding: 'utf8', ...options });
const root = fileURLToPath(new URL('../../', import.meta.url));
const executable = join(root, 'bin/curd.js');
/** Servers at once. */
const together = Number(process.env.CURD_TEST_EPHEMERAL ?? 3);

function environmentIn(folder: string): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const own = Object.entries(inherited).filter(([name]) => !name.startsWith('CURD_'));
  return {
    ...Object.fromEntries(own),
    TMPDIR: folder,
    CURD_LOG_LEVEL: 'silent',
    PATH: `${join(folder, 'node_modules/.bin')}${delimiter}${process.env.PATH}`,
  };
}

interface Started {
  readonly greeting: { readonly url: string; readonly key: string; readonly adminKey: string };
  /** Ends it with a signal, and waits for that. */
  readonly end: (signal: NodeJS.Signals) => Promise<void>;
}

/** Starts `curd serve --ephemeral`, whose folders are in `folder`. */
async function start(t: Scope, folder: string): Promise<Started> {
  const child = spawn(process.execPath, [executable, 'serve', '--ephemeral', '--json'], {
    env: environmentIn(folder),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  cleanUp(t, () => end('SIGKILL'));
  for await (const line of createInterface({ input: child.stdout })) {
    return { greeting: JSON.parse(line), end };
  }
  throw new Error('The server printed nothing.');
}

const statusFor = async (url: string, key: string) =>
  (
    await fetch(`${url}/v2/sandbox/trigger`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: '{"type":"cheese.created"}',
    })
  ).status;

suite('curd serve --ephemeral', () => {
  test('curd serve --ephemeral serves new shops, whose folders are deleted with them, or by the next one', async (t) => {
    const folder = await temporaryFolder(t);
    const servers = await Promise.all(Array.from({ length: together }, () => start(t, folder)));
    assert.equal(new Set(servers.map(({ greeting }) => greeting.url)).size, together);
    assert.equal((await readdir(folder)).length, together);
    const [first, ...others] = servers as [Started, ...Started[]];
    const { url, key, adminKey } = first.greeting;
    assert.deepEqual([await statusFor(url, adminKey), await statusFor(url, key)], [201, 403]);
    const cheeses = await fetch(`${url}/v2/cheeses`, { headers: { 'x-api-key': key } });
    assert.ok(((await cheeses.json()) as { total: number }).total > 10);
    const order = await fetch(`${url}/v2/store/order/10`, { headers: { 'x-api-key': key } });
    assert.equal(order.status, 200);
    const clock = await fetch(`${url}/v2/sandbox/clock`, { headers: { 'x-api-key': key } });
    assert.equal(((await clock.json()) as { movable: boolean }).movable, true);

    await first.end('SIGTERM');
    assert.equal((await readdir(folder)).length, together - 1);
    const [left] = others as [Started];
    await left.end('SIGKILL');
    assert.equal((await readdir(folder)).length, together - 1);
    await start(t, folder);
    assert.equal((await readdir(folder)).length, together - 1);
    const alive = others[1]?.greeting;
    assert.equal(await statusFor(alive?.url ?? '', alive?.adminKey ?? ''), 201);
  });

  test('curd serve --ephemeral refuses settings of another shop, and changes nothing', async (t) => {
    const folder = await temporaryFolder(t);
    const env = environmentIn(folder);
    for (const flag of ['--data-dir', '--database', '--environment', '--local-key', '--clock']) {
      const args = [executable, 'serve', '--ephemeral', flag, 'x'];
      await assert.rejects(run(process.execPath, args, { env }), ({ code, stderr }) => {
        assert.equal(code, 1);
        assert.match(stderr, new RegExp(`^curd: An ephemeral server .* leave out ${flag}\\.\\n$`));
        return true;
      });
    }
    assert.deepEqual(await readdir(folder), []);
  });

  test('curd serve --ephemeral is started and stopped by startEphemeral, which says why a start failed', async (t) => {
    const folder = await temporaryFolder(t);
    const program = { TMPDIR: folder };
    const command = [
      'env',
      ...Object.entries(program).map((pair) => pair.join('=')),
      process.execPath,
      executable,
    ];
    const server = await startEphemeral({ command });
    assert.equal(await statusFor(server.url, server.adminKey), 201);
    await server.stop();
    assert.deepEqual(await readdir(folder), []);
    await assert.rejects(
      startEphemeral({ command: ['false'] }),
      /^Error: The server did not start: it ended\./,
    );
    await assert.rejects(startEphemeral({ command: ['/no/such/curd'] }), /did not start: .*ENOENT/);
  });

  test('curd serve --ephemeral is never installed from the registry, which has another package of this name', async (t) => {
    const folder = await temporaryFolder(t);
    const requested: string[] = [];
    const registry = createServer(({ url = '' }, response) => {
      requested.push(url);
      const { port } = registry.address() as AddressInfo;
      const dist = { tarball: `http://127.0.0.1:${port}/curd.tgz`, integrity: 'sha512-AAAA' };
      const versions = { '9.9.9': { name: 'curd', version: '9.9.9', bin: { curd: 'curd.js' }, dist } };
      const document = { name: 'curd', 'dist-tags': { latest: '9.9.9' }, versions };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
    }).listen(0, '127.0.0.1');
    cleanUp(t, () => registry.close());
    await once(registry, 'listening');
    const { port } = registry.address() as AddressInfo;
    const client = pathToFileURL(join(root, 'client/testing/index.ts')).href;
    const program = `import { startEphemeral } from '${client}'; await startEphemeral();`;
    const env = {
      ...environmentIn(folder),
      npm_config_registry: `http://127.0.0.1:${port}`,
      npm_config_cache: join(folder, 'cache'),
      npm_config_fetch_retries: '0',
      // The default without a terminal.
      npm_config_yes: 'true',
    };
    await assert.rejects(
      run(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder, env }),
      /Curd is not installed in this project: run "npm ci --omit=dev && npm pack" in a clone of Curd/,
    );
    assert.ok(!requested.includes('/curd.tgz'));
  });
});

/** The examples by their file names. */
const examples = new Map(
  [...read('docs/testing.md').matchAll(/^```(?:js|sh)\n(?:\/\/|#) ([\w.-]+)\n(.*?)^```$/gms)].map(
    ([, name = '', text = '']) => [name, text],
  ),
);

suite('The examples of docs/testing.md', () => {
  async function project(t: Scope): Promise<string> {
    const folder = await temporaryFolder(t);
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
    mkdirSync(join(folder, 'node_modules/@curd'));
    symlinkSync(join(root, 'client'), join(folder, 'node_modules/@curd/client'));
    symlinkSync(executable, join(folder, 'node_modules/.bin/curd'));
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    for (const [name, text] of examples) {
      writeFileSync(join(folder, name), text);
    }
    return folder;
  }

  test('The examples of docs/testing.md are found', () => {
    const names = ['shop.test.js', 'start-shop.js', 'shop.vitest.js', 'shop.jest.cjs', 'shop-test.sh'];
    assert.deepEqual([...examples.keys()], names);
    assert.ok(existsSync(join(root, 'client/dist/esm/testing/index.js')), 'run "npm run build"');
  });

  test('The examples of docs/testing.md for node:test pass', async (t) => {
    const cwd = await project(t);
    const { stdout } = await run(process.execPath, ['--test', 'shop.test.js'], {
      cwd,
      env: environmentIn(cwd),
    });
    assert.match(stdout, /pass 5\n/);
  });

  test('The examples of docs/testing.md for the shell work, and leave nothing', async (t) => {
    const cwd = await project(t);
    const { stdout } = await run('sh', ['shop-test.sh'], { cwd, env: environmentIn(cwd) });
    assert.match(stdout, /"items".*"did"/s);
    await until(async () => (await readdir(cwd)).every((name) => !name.startsWith('curd-ephemeral')));
  });

  test('The examples of docs/testing.md for Vitest and Jest have a valid syntax', async (t) => {
    const cwd = await project(t);
    for (const name of ['start-shop.js', 'shop.vitest.js', 'shop.jest.cjs']) {
      await run(process.execPath, ['--check', name], { cwd });
    }
  });
});
