/**
 * The Docker image without Docker: the steps of the Dockerfile run in empty folders, with the files that .dockerignore
 * lets through. Packages come from this installation instead of the registry.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseYaml } from '@redocly/openapi-core';
import { settings } from '../../src/settings/table.ts';
import { cleanUp, temporaryFolder } from '../context.ts';
import { read } from '../gates/sources.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const unpackedMax = 250e6;
/** Of nobody: a user that owns no file. */
const userId = process.getuid?.() === 0 ? 65_534 : process.getuid?.();

interface Instruction {
  readonly name: string;
  readonly text: string;
}

function instructionsOf(dockerfile: string): Instruction[] {
  const lines = dockerfile
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, '')
    .split('\n');
  return lines.flatMap((line) => {
    const [, name = '', text = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    return name === '' ? [] : [{ name, text }];
  });
}

/** Whether the build gets this file. The last pattern that matches decides. */
function isInContext(path: string): boolean {
  let isIn = true;
  for (const line of read('.dockerignore').trim().split('\n')) {
    const pattern = line.replace('!', '');
    if (matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`)) {
      isIn = line.startsWith('!');
    }
  }
  return isIn;
}

/** The files of a source of COPY, without those that are ignored. */
function filesOf(source: string): string[] {
  const isFolder = lstatSync(join(root, source)).isDirectory();
  const found = isFolder
    ? globSync(`${source}/**`, { cwd: root, exclude: (name) => name === 'node_modules' })
    : [source];
  return found.filter((path) => isInContext(path) && lstatSync(join(root, path)).isFile());
}

interface Lockfile {
  readonly packages: Readonly<
    Record<string, { dev?: boolean; link?: boolean; dependencies?: object; optionalDependencies?: object }>
  >;
}

/** The packages that the dependencies of the root need, as paths. Those with a Node are left out: the image removes them. */
function packagesOfRoot(): string[] {
  const { packages } = JSON.parse(read('package-lock.json')) as Lockfile;
  const found = new Set<string>();
  const visit = (from: string, names: object = {}) => {
    for (const name of Object.keys(names)) {
      let folder = from;
      while (folder !== '' && packages[`${folder}/node_modules/${name}`] === undefined) {
        folder = folder.includes('/node_modules/')
          ? folder.slice(0, folder.lastIndexOf('/node_modules/'))
          : '';
      }
      const path = `${folder}${folder === '' ? '' : '/'}node_modules/${name}`;
      const entry = packages[path];
      if (entry !== undefined && !found.has(path)) {
        found.add(path);
        visit(path, { ...entry.dependencies, ...entry.optionalDependencies });
      }
    }
  };
  visit('', packages['']?.dependencies);
  return [...found].filter((path) => existsSync(join(root, path)));
}

/** In place of npm: takes the packages of this installation. */
function writeNpm(folder: string): string {
  const bin = join(folder, 'npm-bin');
  mkdirSync(bin);
  const list = join(folder, 'npm-list');
  writeFileSync(list, packagesOfRoot().join('\n'));
  writeFileSync(
    join(bin, 'npm'),
    `#!/bin/sh
set -e
case "$*" in
  "run build") ${JSON.parse(read('package.json')).scripts.build} ;;
  *--no-workspaces*) while read -r path; do mkdir -p "$(dirname "$path")"; cp -R "${root}$path" "$path"; done < "${list}" ;;
  *) ln -s "${root}node_modules" node_modules; ln -s "${root}client/node_modules" client/node_modules ;;
esac
`,
    { mode: 0o755 },
  );
  return bin;
}

/** Runs the instructions. @returns the folder of the last stage, as the root of its file system */
function buildImage(folder: string): { stage: string; last: readonly Instruction[] } {
  const bin = writeNpm(folder);
  const stages = new Map<string, string>();
  let stage = '';
  let last: Instruction[] = [];
  let workdir = '/';
  for (const instruction of instructionsOf(read('Dockerfile'))) {
    const { name, text } = instruction;
    last.push(instruction);
    if (name === 'FROM') {
      const [, as = 'image'] = text.split(' AS ');
      stage = join(folder, as);
      stages.set(as, stage);
      last = [];
      mkdirSync(join(stage, 'usr/local/bin'), { recursive: true });
    } else if (name === 'WORKDIR') {
      workdir = text;
      mkdirSync(join(stage, workdir), { recursive: true });
    } else if (name === 'COPY') {
      const words = text.split(/ +/);
      const from = words[0]?.startsWith('--from=')
        ? stages.get((words.shift() as string).slice('--from='.length))
        : null;
      const target = words.pop() as string;
      for (const source of words) {
        if (from === null) {
          const files = filesOf(source);
          assert.notEqual(files.length, 0, `COPY ${source}: .dockerignore excludes it`);
          for (const path of files) {
            const to = target.endsWith('/') ? join(target, path) : path.replace(source, target);
            cpSync(join(root, path), join(stage, workdir, to), { recursive: true });
          }
        } else {
          cpSync(join(from ?? '', source), join(stage, workdir, target), {
            recursive: true,
            verbatimSymlinks: true,
          });
        }
      }
    } else if (name === 'RUN') {
      const command = text.replace(/(?<= )\/(?=\w)/g, `${stage}/`).replace('node:node', `${userId}`);
      const env = { ...process.env, PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}` };
      execFileSync('sh', ['-c', command], {
        cwd: join(stage, workdir),
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    }
  }
  return { stage, last };
}

/** All files below a folder, without links. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** What ENV sets in the last stage. */
function environmentOf(instructions: readonly Instruction[]): Record<string, string> {
  const texts = instructions.filter(({ name }) => name === 'ENV').map(({ text }) => text);
  return Object.fromEntries(texts.flatMap((text) => text.split(/ +/)).map((pair) => pair.split('=')));
}

const wordsOf = (instructions: readonly Instruction[], name: string): string[] =>
  JSON.parse(/\[.*\]$/.exec(instructions.findLast((one) => one.name === name)?.text ?? '')?.[0] ?? '[]');

suite('The image', { skip: process.platform === 'win32' }, () => {
  test('The container image is built of files that .dockerignore lets through, and runs as a user who can write to /data only', async (t) => {
    const folder = await temporaryFolder(t);
    chmodSync(folder, 0o755);
    const { stage, last } = buildImage(folder);
    const bytes = filesBelow(stage).reduce((sum, path) => sum + lstatSync(path).size, 0);
    t.diagnostic(`${Math.round(bytes / 1e6)} MB`);
    assert.ok(bytes < unpackedMax);
    assert.ok(
      !existsSync(join(stage, 'curd/node_modules/react')),
      'the packages of the console stay outside',
    );

    cpSync(process.execPath, join(stage, 'usr/local/bin/node'));
    execFileSync('chmod', ['-R', 'a+rX,a-w', stage]);
    chmodSync(join(stage, 'data'), 0o700);
    cleanUp(t, () => execFileSync('chmod', ['-R', 'u+w', stage]));
    const before = filesBelow(join(stage, 'curd')).length;
    const workdir = last.findLast(({ name }) => name === 'WORKDIR')?.text ?? '';
    const options = {
      cwd: join(stage, workdir),
      uid: userId,
      env: {
        ...environmentOf(last),
        CURD_HOST: '127.0.0.1',
        PATH: join(stage, 'usr/local/bin'),
        CURD_DATA_DIR: join(stage, 'data'),
        CURD_PORT: '0',
        HOME: '/nonexistent',
      },
    };
    const [program = '', ...flags] = wordsOf(last, 'ENTRYPOINT');
    const args = [...flags, ...wordsOf(last, 'CMD')].map((word) => word.replace(/^(?=\/curd\/)/, stage));
    const server = spawn(program, args, {
      ...options,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(server, 'exit');
    cleanUp(t, () => server.kill('SIGKILL'));
    let greeting = '';
    for await (const piece of server.stdout) {
      greeting += piece;
      if (greeting.includes('Stop: Ctrl+C')) {
        break;
      }
    }
    const url = /http:\/\/\S+/.exec(greeting)?.[0] ?? '';
    for (const path of ['/readyz', '/console', '/client.tgz', '/client/browser.js']) {
      const response = await fetch(url + path);
      await response.arrayBuffer();
      assert.equal(response.status, 200, path);
    }
    const command = /docker exec (?:[\da-f]{12}|<container>) curd/.source;
    assert.match(greeting, new RegExp(`WRITER=\\$\\(${command} keys create`));
    assert.match(greeting, new RegExp(`Commands: ${command} --help`));
    const page = await (await fetch(`${url}/console`)).text();
    assert.match(
      page.replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
      new RegExp(`data-command="${command}"`),
    );
    // As "docker exec" runs it: a file without a folder is in the volume, and messages name this form, too.
    const exec = (...words: string[]) =>
      spawnSync(join(stage, 'usr/local/bin/curd'), words, { ...options, encoding: 'utf8' });
    assert.equal(exec('backup', 'shop.tar').status, 0);
    assert.ok(existsSync(join(stage, 'data/shop.tar')));
    assert.match(
      exec('keys', 'list', '--account', 'nobody').stderr,
      new RegExp(`"${command} accounts list"`),
    );
    const check = (port: string) => {
      const [node = '', ...args] = wordsOf(last, 'HEALTHCHECK');
      const child = spawn(node, args, {
        ...options,
        env: { ...options.env, CURD_PORT: port },
        stdio: 'ignore',
      });
      return once(child, 'exit');
    };
    assert.deepEqual(await check(new URL(url).port), [0, null]);
    assert.deepEqual(await check('1'), [1, null]);
    server.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
    assert.equal(filesBelow(join(stage, 'curd')).length, before);
    assert.ok(existsSync(join(stage, 'data/curd.sqlite')));
  });

  test('The container image has a user without rights, a health check, labels, and an entry point that gets signals', () => {
    const stages = read('Dockerfile').split(/^FROM /m);
    const image = stages.at(-1) ?? '';
    assert.ok(stages.length > 3, 'several stages');
    for (const line of [
      /^USER node$/m,
      /^HEALTHCHECK /m,
      /^LABEL org\.opencontainers\.image\.title=/m,
      /^ENTRYPOINT \["node"/m,
    ]) {
      assert.match(image, line);
    }
  });
});

suite('compose.yaml', () => {
  interface Service {
    readonly image?: string;
    readonly build?: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly volumes?: readonly string[];
    readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
    readonly healthcheck?: object;
  }
  const { services, volumes } = parseYaml(read('compose.yaml')) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: object;
  };

  test('compose.yaml has a server, PostgreSQL and a bucket, with volumes and health checks that exist', () => {
    assert.deepEqual(Object.keys(services), ['curd', 'database', 'bucket', 'create-bucket']);
    for (const [name, { image, build, volumes: mounts = [], depends_on = {} }] of Object.entries(services)) {
      assert.ok((image === undefined) !== (build === undefined), name);
      for (const mount of mounts) {
        assert.ok(
          mount.split(':', 1).every((volume) => volume in volumes),
          mount,
        );
      }
      for (const [other, { condition }] of Object.entries(depends_on)) {
        assert.ok(other in services, other);
        assert.equal(condition === 'service_healthy', services[other]?.healthcheck !== undefined, other);
      }
    }
  });

  test('compose.yaml sets only settings that exist, and the same names and passwords for both sides', () => {
    const environment = services.curd?.environment ?? {};
    const known: string[] = Object.values(settings).map(({ variable }) => variable);
    for (const name of Object.keys(environment).filter((one) => !one.startsWith('AWS_'))) {
      assert.ok(known.includes(name), name);
    }
    const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = services.database?.environment ?? {};
    assert.equal(
      environment.CURD_DATABASE,
      `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@database/${POSTGRES_DB}`,
    );
    const { MINIO_ROOT_USER, MINIO_ROOT_PASSWORD } = services.bucket?.environment ?? {};
    assert.deepEqual(
      [environment.AWS_ACCESS_KEY_ID, environment.AWS_SECRET_ACCESS_KEY],
      [MINIO_ROOT_USER, MINIO_ROOT_PASSWORD],
    );
  });
});
