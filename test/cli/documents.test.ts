/** All commands of the documents for clients and operators, in their order, in one terminal and on one shop. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { cleanUp, temporaryFolder } from '../context.ts';
import { read } from '../gates/sources.ts';
import { cheesesIn, curdIn, type Environment, freshShop, inShop, resultOf, serve } from './run.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const paths = (names: string) => names.split(' ').map((name) => `docs/${name}.md`);
const pages = [
  'README.md',
  ...paths(
    'getting-started credentials navigation prices photos orders-and-customers delivery safe-retries dry-runs limits',
  ),
  ...paths('requests publishable-keys storefront get-a-token restricted-keys agents events webhooks'),
  ...paths('catalogue-mirror testing console stock bulk-changes mail statistics discounts taxes'),
];
/** They remove what the pages above have made. */
const lastPages = paths('operators snapshots clock');
/** They need keys. Those that register a customer are last, so that the others cannot depend on it. */
const pagesAlone = paths(
  'photos safe-retries dry-runs bulk-changes publishable-keys restricted-keys agents testing statistics snapshots clock operators delivery orders-and-customers',
);
const hasShell = ['bash', 'curl'].every((name) => spawnSync(name, ['--version']).status === 0);

/**
 * Commands that are skipped: an installation, another server, a login in a browser and what depends on it, commands that
 * do not end, a mail server, and the one response that is an error.
 */
const skipped =
  /^(?:git clone|npm |createdb|export CURD_|echo "\$CURD_SECRET"|npx curd approvals|npx --no curd serve|npx curd serve|npx curd mail test|npx curd requests tail|npx http-server|claude |docker |curl -N)|get-a-token\.js|oauth\/revoke|mirror-catalogue\.js|npx curd serve$|Sandbox-Simulate|order:31|--order 11/;
/** A block that is the file of a script. */
const file = /^# [\w-]+\.sh\n/;

/** The commands of a page as a script, block after block. */
function scriptOf(page: string, receiverPort: number): string {
  const blocks = [...read(page).matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
  const lines = blocks
    .filter((block) => !file.test(block))
    .join('')
    .split('\n')
    .filter((line) => !skipped.test(line))
    // Values that the reader fills in: a field of the last response, the key that the start printed, an id of a list.
    .map((line) => line.replace(/^(\w+)=\.\.\. +# "(\w+)".*/, "$1=$(lastField '$2')"))
    .map((line) => line.replace(/^KEY=\.\.\..*/, 'KEY=$FIRST_KEY'))
    .map((line) => line.replaceAll('<id>', '$(firstId)'))
    // A reader starts the receiver in another terminal, and sees what it prints before going on.
    .map((line) =>
      line.replace(/^node (\S*webhook-receiver\.js) &$/, '"$NODE" $1 > received & shows Waiting'),
    )
    .map((line) => line.replace(/^(?=curl .*:9000\/break)/, 'shows order.placed; '));
  const end = page.endsWith('webhooks.md') ? ['shows again'] : [];
  return [`echo "### ${page}"`, ...lines, ...end]
    .join('\n')
    .replaceAll(':8080', ':$CURD_PORT')
    .replaceAll(':9000', `:${receiverPort}`);
}

const prelude = `set -eu
npx() { shift; printf '%s\\0' "$@" | command curl -sS --fail-with-body --data-binary @- "$COMMANDS"; }
node() { "$NODE" "$@"; }
# A response of 400 and more ends the script, but for a customer who is registered already.
curl() {
  local status
  status=$(command curl -sS -o last -w '%{http_code}' "$@")
  head -c 300 last; echo " <- $status"
  [ "$status" -lt 400 ] || { [ "$status" = 409 ] && [[ "$*" == *ada@example.com* ]]; }
}
# Of the first item, where the response is a list. An order has items, too, and fields of its own.
lastField() { node -p 'const body = JSON.parse(fs.readFileSync("last", "utf8")); body[process.argv[1]] ?? body.items[0][process.argv[1]]' "$1"; }
# Waits until the receiver of webhooks has printed a text.
shows() {
  for _ in $(seq 200); do grep -q "$1" received 2> /dev/null && return; sleep 0.1; done
  echo "the receiver did not print $1:"; cat received; return 1
}
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
firstId() { npx curd keys list --account "Fromagerie du Coin" --json | node -p 'JSON.parse(fs.readFileSync(0))[0].id'; }
`;

/** A port that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A server that runs the commands of a terminal in this process: 120 processes would take 50 s of CPU time. */
async function serveCommands(t: TestContext, folder: string, shop: Environment): Promise<string> {
  const server = createHttpServer(async (request, response) => {
    const args = (await text(request)).split('\0').slice(0, -1);
    const { code, stdout, stderr } = await curdIn(folder, shop, args);
    response.writeHead(code === 0 ? 200 : 500).end(code === 0 ? stdout : stderr);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(t, () => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The captions of the images of each cheese, sorted. */
async function captionsIn(shop: Environment): Promise<Map<string, (string | null)[]>> {
  const cheeses = await cheesesIn(shop);
  return inShop(shop, async ({ images: { service: images } }) => {
    const captions = new Map<string, (string | null)[]>();
    for (const { id, name } of cheeses) {
      captions.set(name, (await images.list(id)).map(({ caption }) => caption).sort());
    }
    return captions;
  });
}

test('The documents order cheeses of the demo catalogue that can be ordered', async (t) => {
  const server = await serve(t, await freshShop(t));
  const files = [
    'README.md',
    'client/README.md',
    ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`),
  ];
  const ordered = files
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...read(path).matchAll(/"?cheeseId"?: (\d+), "?quantity"?:/g)].map(([, id]) => ({ path, id })),
    );
  assert.ok(ordered.length > 5);
  assert.ok(ordered.some(({ path }) => path === 'client/README.md'));
  for (const { path, id } of ordered) {
    const headers = { 'X-API-Key': server.firstKey ?? '' };
    const response = await fetch(`${server.url}/v2/cheeses/${id}/availability`, { headers });
    assert.equal(response.status, 200, path);
    const { orderable } = (await response.json()) as { orderable: boolean };
    assert.ok(orderable, `${path} orders the cheese ${id}, which cannot be ordered`);
  }
});

/** A shop with the files that the pages name, and a terminal to follow pages in. */
async function openTerminal(t: TestContext) {
  const folder = await temporaryFolder(t);
  const shop = { CURD_DATA_DIR: join(folder, 'data'), CURD_APPROVAL_DELAY: '300ms' };
  mkdirSync(shop.CURD_DATA_DIR);
  for (const name of ['src', 'examples']) {
    symlinkSync(join(root, name), join(folder, name));
  }
  writeFileSync(
    join(folder, 'mine.csv'),
    'Title,Family,Milk,Rind,Ripening\nTomme,Alpine,cow,washed,9 Months\n',
  );
  writeFileSync(
    join(folder, 'canadian-cheese-directory.csv'),
    'CheeseNameEn,CheeseNameFr,CategoryTypeEn,MilkTypeEn,MilkTreatmentTypeEn,RindTypeEn,Organic,RipeningEn\nOka,,Semi-soft,Cow,Raw,Washed,0,2 Months\n',
  );
  await sharp({ create: { width: 64, height: 48, channels: 3, background: '#f4d480' } })
    .jpeg()
    .toFile(join(folder, 'gruyere.jpg'));

  const server = await serve(t, shop);
  const receiverPort = await freePort();
  const commands = await serveCommands(t, folder, shop);
  const {
    CURD_TEST_POSTGRES: _,
    CURD_TEST_SHOPS_POSTGRES: _owner,
    NODE_TEST_CONTEXT: _context,
    ...inherited
  } = process.env;

  /** @param variables of the shell, where it has them before the first page */
  async function follow(followed: readonly string[], variables: Environment, ...end: string[]) {
    const script = [prelude, ...followed.map((page) => scriptOf(page, receiverPort)), ...end].join('\n');
    const run = await resultOf(
      spawn('bash', ['-c', script], {
        cwd: folder,
        env: {
          ...inherited,
          ...shop,
          ...variables,
          FIRST_KEY: server.firstKey ?? '',
          CURD_PORT: new URL(server.url).port,
          NODE: process.execPath,
          COMMANDS: commands,
          RECEIVER_PORT: String(receiverPort),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    assert.equal(run.code, 0, `${run.stdout}\n${run.stderr}`);
    for (const page of followed) {
      assert.ok(run.stdout.includes(`### ${page}`));
    }
  }
  return { folder, shop, server, follow };
}

suite('The documents', { skip: !hasShell }, () => {
  test('The documents can be followed literally, page after page, without reaching the limit of keys', async (t) => {
    const { folder, shop, follow } = await openTerminal(t);
    await follow(pages, {}, 'printf %s "$ADMIN" > admin');

    await inShop(shop, async ({ auth: { keys } }) => {
      for (const { id, name } of await keys.listAccounts()) {
        const active = (await keys.list(id)).filter(({ kind }) => kind === 'secret');
        // Those of local are the first one, $WRITER and $ADMIN: no page creates another one there.
        const most = name === 'local' ? 3 : 2;
        assert.ok(active.length <= most, `${name} has ${active.length} active secret keys`);
      }
    });
    const captions = await captionsIn(shop);
    assert.deepEqual(captions.get('Alpkäse'), ['A drawing'], 'the drawing is one of a hard cheese');
    assert.deepEqual(captions.get('Gruyère'), ['Drawing of a hard cheese', 'From the cellar']);
    await follow(lastPages, { ADMIN: readFileSync(join(folder, 'admin'), 'utf8') });
  });

  test('The documents can be followed each alone, in a new terminal, with the first key alone', async (t) => {
    const { shop, server, follow } = await openTerminal(t);
    for (const page of pagesAlone) {
      await follow([page], { KEY: server.firstKey ?? '' });
      await inShop(shop, async ({ auth: { keys }, contextOf }) => {
        const { id } = await keys.findAccount('local');
        const [, ...others] = await keys.list(id);
        for (const { id: made } of others) {
          await keys.revoke(contextOf('test'), made);
        }
      });
    }
  });
});
