/**
 * Each configuration of deploy/ in the program that reads it. Skipped by name where a program is not installed.
 * test/faults/varnish.test.ts runs deploy/varnish.vcl, and test/instances/haproxy.test.ts a restart behind HAProxy.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { filesIn, read } from '../gates/sources.ts';
import { freePort } from '../global-setup.ts';
import { openListeningShop, openShop, type Scope, shared, temporaryFolder, until } from '../helper.ts';
import { programEnvironment, run, skipWithout } from './programs.ts';

const openShopBehind = async (t: Scope) => {
  const shop = await openListeningShop(t, { settings: { CURD_TRUSTED_PROXIES: '127.0.0.1' } });
  const folder = await temporaryFolder(t);
  const args = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=shop.example -days 2';
  const files = ['-keyout', 'key.pem', '-out', 'chain.pem'];
  execFileSync('openssl', ['req', ...args.split(' '), ...files], { cwd: folder, stdio: 'pipe' });
  const keyFrom = (address: string) =>
    shop.createKey({ kind: 'restricted', scopes: ['read:cheeses'], addresses: [address] });
  return { shop, folder, here: await keyFrom('127.0.0.1'), elsewhere: await keyFrom('203.0.113.9') };
};

interface Ports {
  readonly http: number;
  readonly https: number;
  readonly shop: number;
}

interface Proxy {
  readonly program: string;
  readonly file: string;
  /** The file with the ports and the certificate of the test. */
  readonly adapt: (text: string, ports: Ports, folder: string) => string;
  readonly args: (file: string) => readonly string[];
}

const proxies: readonly Proxy[] = [
  {
    program: 'nginx',
    file: 'deploy/nginx.conf',
    adapt: (text, ports, folder) => {
      const server = text
        .replace(/^.*\[::\]:.*$/gm, '')
        .replace('listen 80;', `listen 127.0.0.1:${ports.http};`)
        .replace('listen 443 ssl', `listen 127.0.0.1:${ports.https} ssl`)
        .replace('127.0.0.1:8080', `127.0.0.1:${ports.shop}`)
        .replace(/ssl_certificate .*/, `ssl_certificate ${folder}/chain.pem;`)
        .replace(/ssl_certificate_key .*/, `ssl_certificate_key ${folder}/key.pem;`);
      const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      );
      return `daemon off;\nmaster_process off;\npid ${folder}/nginx.pid;\nevents {}\nhttp {\naccess_log off;\n${folders.join('\n')}\n${server}}\n`;
    },
    args: (file) => ['-e', 'stderr', '-c', file],
  },
  {
    program: 'caddy',
    file: 'deploy/Caddyfile',
    adapt: (text, ports, folder) =>
      `{\nadmin off\nhttp_port ${ports.http}\nhttps_port ${ports.https}\n}\n${text
        .replace('shop.example {', `shop.example {\ntls ${folder}/chain.pem ${folder}/key.pem`)
        .replace('127.0.0.1:8080', `127.0.0.1:${ports.shop}`)}`,
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  {
    program: 'haproxy',
    file: 'deploy/haproxy.cfg',
    adapt: (text, ports, folder) => {
      writeFileSync(
        join(folder, 'both.pem'),
        execFileSync('cat', [join(folder, 'chain.pem'), join(folder, 'key.pem')]),
      );
      return text
        .replace('bind :80', `bind 127.0.0.1:${ports.http}`)
        .replace('bind :443', `bind 127.0.0.1:${ports.https}`)
        .replace('/etc/haproxy/shop.example.pem', join(folder, 'both.pem'))
        .replace('10.0.0.11:8080', `127.0.0.1:${ports.shop}`)
        .replace(/^\tserver two .*$/m, '');
    },
    args: (file) => ['-db', '-f', file],
  },
];

interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Sends a request over HTTP/2. */
function requestOverHttp2(port: number, path: string, headers: Readonly<Record<string, string>> = {}) {
  return new Promise<Response>((resolve, reject) => {
    const session = connect(`https://127.0.0.1:${port}`, {
      servername: 'shop.example',
      rejectUnauthorized: false,
    });
    session.on('error', reject);
    const stream = session.request({ ':path': path, ':authority': 'shop.example', ...headers });
    stream.on('error', reject);
    stream.on('response', async (received) => {
      const text = (await stream.toArray()).join('');
      session.close();
      resolve({ status: Number(received[':status']), headers: received as Record<string, string>, text });
    });
  });
}

suite('deploy/ in a proxy', { skip: skipWithout('openssl') }, () => {
  const behind = shared(openShopBehind);

  for (const { program, file, adapt, args } of proxies) {
    test(`A proxy with ${file} serves Curd over HTTP/2 with the client IP, and hides the metrics`, {
      skip: skipWithout(program),
    }, async (t) => {
      const { shop, folder, here, elsewhere } = behind();
      const ports = { http: await freePort(), https: await freePort(), shop: shop.port };
      const own = join(folder, `${program}.conf`);
      writeFileSync(own, adapt(read(file), ports, folder));
      const output = run(t, program, args(own), { HOME: folder });
      await until(async () => {
        const response = await requestOverHttp2(ports.https, '/readyz').catch(() => null);
        return response?.status === 200;
      }, `${program} does not serve: ${output()}`);
      // The client does not choose its IP: the proxy replaces the header.
      for (const [key, status] of [
        [here, 200],
        [elsewhere, 403],
      ] as const) {
        const headers = { 'x-api-key': key, 'x-forwarded-for': '203.0.113.9' };
        const response = await requestOverHttp2(ports.https, '/v2/cheeses', headers);
        assert.equal(response.status, status, response.text);
      }
      for (const path of ['/metrics', '/metrics/']) {
        const { status } = await requestOverHttp2(ports.https, path, { 'x-api-key': shop.admin });
        assert.equal(status, 404);
      }
      const redirected = await fetch(`http://127.0.0.1:${ports.http}/docs`, {
        redirect: 'manual',
        headers: { Connection: 'close' },
      });
      assert.ok([301, 308].includes(redirected.status), `${redirected.status}`);
      assert.match(redirected.headers.get('location') ?? '', /^https:/);
    });
  }
});

suite('Prometheus with the job of docs/operations.md', {
  skip: skipWithout('prometheus', 'promtool'),
}, () => {
  test('Prometheus with the job of docs/operations.md reads /metrics, and evaluates deploy/prometheus-rules.yml', async (t) => {
    const shop = await openListeningShop(t);
    const folder = await temporaryFolder(t);
    const [, job] = /```yaml\n(scrape_configs:[\s\S]*?)```/.exec(read('docs/operations.md')) ?? [];
    assert.ok(job !== undefined, 'docs/operations.md has no job');
    writeFileSync(join(folder, 'curd-key'), shop.admin);
    const rules = join(folder, 'prometheus-rules.yml');
    writeFileSync(rules, read('deploy/prometheus-rules.yml'));
    const own = join(folder, 'prometheus.yml');
    const used = job
      .replace('/etc/prometheus/curd-key', join(folder, 'curd-key'))
      .replace('127.0.0.1:8080', `127.0.0.1:${shop.port}`);
    const times = 'global: { scrape_interval: 1s, evaluation_interval: 1s }';
    writeFileSync(own, `${times}\nrule_files: [${rules}]\n${used}`);
    for (const args of [
      ['check', 'config', own],
      ['check', 'rules', rules],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', args, {
        env: programEnvironment,
        encoding: 'utf8',
      });
      assert.equal(status, 0, stdout + stderr);
    }
    const port = await freePort();
    const flags = [
      `--config.file=${own}`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const output = run(t, 'prometheus', flags);
    const data = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, {
        headers: { Connection: 'close' },
      });
      // biome-ignore lint/suspicious/noExplicitAny: the API of Prometheus.
      return ((await response.json()) as any).data;
    };
    await until(async () => {
      const targets = await data('targets').catch(() => null);
      return targets?.activeTargets[0]?.health === 'up';
    }, `Prometheus cannot read /metrics: ${output()}`);
    await until(async () => {
      const { groups } = await data('rules');
      const health = groups[0].rules.map((rule: { health: string }) => rule.health);
      assert.ok(!health.includes('err'), JSON.stringify(groups));
      return health.length > 10 && health.every((one: string) => one === 'ok');
    }, 'the rules are not evaluated');
  });
});

suite('deploy/ in systemd', { skip: skipWithout('systemd-analyze') }, () => {
  test('deploy/ has units that systemd accepts, with an exposure of at most 2.5', async (t) => {
    const folder = await temporaryFolder(t);
    const units = filesIn('deploy/*.{service,timer}');
    for (const path of units) {
      const text = read(path)
        .replaceAll('/opt/curd/node_modules/.bin/node', process.execPath)
        .replaceAll('/opt/curd', process.cwd())
        .replace('User=curd', 'User=root');
      writeFileSync(join(folder, path.replace('deploy/', '')), text);
    }
    const files = units.map((path) => join(folder, path.replace('deploy/', '')));
    const verified = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' });
    assert.deepEqual(
      [verified.status, verified.stderr.split('\n').filter((line) => line.includes(folder))],
      [0, []],
    );
    for (const file of files.filter((one) => one.endsWith('.service'))) {
      const args = ['security', '--offline=true', '--threshold=25', '--no-pager', file];
      const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
      assert.equal(status, 0, stdout + stderr);
    }
  });
});

test('docs/operations.md has statements and settings for vacuum that PostgreSQL accepts from the owner of the tables', async (t) => {
  const { app } = await openShop(t, { engine: 'postgres' });
  const [, section = ''] = read('docs/operations.md').split('\n## Transaction ids\n');
  const blockOf = (language: string) => section.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? '';
  const statements = blockOf('sql');
  assert.match(statements, /alter table event[\s\S]*alter table orders/);
  await app.database.exclusiveTransaction((_sql, runAll) => runAll(statements));
  const names = [...blockOf('ini').matchAll(/^(\w+) =/gm)].map(([, name = '']) => name);
  assert.ok(names.length >= 5);
  for (const name of names) {
    const found = await app.database.all(sql`select 1 as found from pg_settings where name = ${name}`);
    assert.equal(found.length, 1, name);
  }
});
