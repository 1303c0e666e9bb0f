/** The package `curd` as its users get it: the tarball of `npm pack`, below the node_modules of another project. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { extract } from 'tar';
import { bern, cleanUp, shared, temporaryFolder } from '../context.ts';
import { read } from '../gates/sources.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const packedMax = 3e6;

/** A project with the package and with the packages that it declares, and with no others. */
const project = shared(async (t) => {
  const folder = await temporaryFolder(t);
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '');
  const installed = join(folder, 'node_modules/curd');
  mkdirSync(installed, { recursive: true });
  await extract({ file: tarball, cwd: installed, strip: 1 });
  const { dependencies, optionalDependencies } = JSON.parse(read('package.json'));
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const target = join(root, 'node_modules', name);
    if (existsSync(target)) {
      mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
      symlinkSync(target, join(folder, 'node_modules', name));
    }
  }
  return { folder, installed, tarball };
});

const executable = () => join(project().installed, 'bin/curd.js');

/** The first Node of the PATH that is too old for Curd itself; null where there is none. */
async function olderNode(): Promise<string | null> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, 'node');
    if (existsSync(path)) {
      const { stdout } = await run(path, ['--version']);
      const major = Number(/\d+/.exec(stdout)?.[0]);
      if (major >= 20 && major < 26) {
        return path;
      }
    }
  }
  return null;
}

suite('The package', () => {
  test('The package of the server has at most 3 MB, with the console and the client, and without sources, tests and benches', () => {
    const { installed, tarball } = project();
    assert.ok(statSync(tarball).size < packedMax);
    assert.deepEqual(readdirSync(installed).toSorted(), [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin',
      'client',
      'console',
      'deploy',
      'lib',
      'migrations',
      'package.json',
      'src',
    ]);
    const files = readdirSync(installed, { recursive: true }).map(String);
    assert.deepEqual(
      files.filter((path) => path.endsWith('.ts')),
      [],
    );
    for (const path of [
      'lib/main.js',
      'lib/main.js.map',
      'console/dist/index.html',
      'client/dist/client.tgz',
    ]) {
      assert.ok(files.includes(join(path)), path);
    }
    assert.deepEqual(readdirSync(join(installed, 'client/dist')).toSorted(), ['browser.js', 'client.tgz']);
    const { scripts } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
      assert.equal(scripts[name], undefined, `npm would ask about the script ${name}`);
    }
  });

  test('A stack trace of the package of the server names the file and line of the source', async () => {
    const data = join(project().folder, 'no-folder');
    writeFileSync(data, '');
    const env = { PATH: process.env.PATH, CURD_DATA_DIR: data, CURD_LOG_LEVEL: 'debug' };
    await assert.rejects(run(process.execPath, [executable(), 'migrate'], { env }), ({ stderr }) => {
      assert.match(stderr, /at .*\/src\/\w+\/.*\.ts:\d+:\d+/);
      return true;
    });
  });

  test('The package of the server serves: an order, an image, a login, the console and the client', async (t) => {
    const data = await temporaryFolder(t);
    const env = { PATH: process.env.PATH, CURD_DATA_DIR: data, CURD_PORT: '0', CURD_LOG_LEVEL: 'warn' };
    const options = { cwd: project().folder, env };
    const server = spawn(process.execPath, [executable(), 'serve', '--json'], {
      ...options,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(server, 'exit');
    cleanUp(t, () => server.kill('SIGKILL'));
    const [greeting] = await once(server.stdout, 'data');
    const { url } = JSON.parse(greeting);
    const { stdout } = await run(
      process.execPath,
      [executable(), 'keys', 'create', '--account', 'local', '--scope', 'write:cheeses write:orders admin'],
      options,
    );
    const headers = { 'X-API-Key': stdout.trim() };
    const request = async (method: string, path: string, body?: object) => {
      const response = await fetch(url + path, {
        method,
        headers: body instanceof FormData ? headers : { ...headers, 'Content-Type': 'application/json' },
        body: body === undefined ? null : body instanceof FormData ? body : JSON.stringify(body),
      });
      const text = await response.text();
      assert.ok(response.ok, `${method} ${path}: ${text.slice(0, 300)}`);
      return { text, headers: response.headers };
    };
    await request('POST', '/v2/store/order', {
      items: [{ cheeseId: 1, quantity: 1 }],
      shippingAddress: bern,
    });
    const form = new FormData();
    form.append('file', new Blob([readFileSync(join(root, 'src/app/demo/images/hard.webp'))]));
    await request('POST', '/v2/cheeses/1/uploadImage', form);
    const customer = { username: 'ada', password: 'correct horse battery', email: 'ada@example.com' };
    await request('POST', '/v2/customer', customer);
    await request('POST', '/v2/customer/login', { username: 'ada', password: customer.password });
    assert.match((await request('GET', '/console')).text, /assets\/main-/);
    assert.match((await request('GET', '/docs')).text, /@curd\/client|cheese/);
    server.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  });

  test('The package of the server runs with the Node that it brings where another one is too old', async (t) => {
    const older = await olderNode();
    if (older === null) {
      t.skip('no Node 20 to 25 on the PATH');
      return;
    }
    const { stdout } = await run(older, [executable(), '--version'], { cwd: project().folder });
    assert.equal(stdout, `${JSON.parse(read('package.json')).version}\n`);
  });
});
