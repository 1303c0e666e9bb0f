/**
 * Keeps a copy of a shop's catalogue in a file, and prints what changes. Stop it whenever you like: it continues where it
 * stopped. Needs a running server and any API key:
 *
 *     KEY=sk_test_... node examples/mirror-catalogue.js mirror.json [http://127.0.0.1:8080]
 *
 * Without a URL it uses CURD_PUBLIC_URL or CURD_PORT, as the server does.
 * With --once it ends as soon as the copy is complete.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const { CURD_PORT, CURD_PUBLIC_URL, KEY: key } = process.env;
const [file = 'mirror.json', url = CURD_PUBLIC_URL || `http://127.0.0.1:${CURD_PORT || 8080}`] = process.argv
  .slice(2)
  .filter((argument) => argument !== '--once');
const server = url.replace(/\/$/, '');
const isOnce = process.argv.includes('--once');
if (!key) {
  console.error('Set KEY to an API key.');
  process.exit(1);
}

// The token and the cheeses are stored together: a copy whose token is ahead of it would miss changes.
let mirror = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { token: null, cheeses: {} };

function save() {
  writeFileSync(`${file}.new`, JSON.stringify(mirror));
  renameSync(`${file}.new`, file);
}

for (;;) {
  const query = new URLSearchParams({ wait: isOnce ? '0' : '30' });
  if (mirror.token !== null) {
    query.set('since', mirror.token);
  }
  const response = await fetch(`${server}/v2/cheeses/changes?${query}`, { headers: { 'X-API-Key': key } });
  if (response.status === 410) {
    console.log('The token is not valid any more: the copy starts again.');
    mirror = { token: null, cheeses: {} };
    continue;
  }
  if (!response.ok) {
    throw new Error(`${response.status}: ${await response.text()}`);
  }
  const { items, next, hasMore } = await response.json();
  for (const { id, deleted, cheese } of items) {
    if (deleted) {
      delete mirror.cheeses[id];
      console.log(`cheese ${id} was deleted`);
    } else {
      console.log(`cheese ${id} ${id in mirror.cheeses ? 'changed' : 'is new'}: ${cheese.name}`);
      mirror.cheeses[id] = cheese;
    }
  }
  mirror.token = next;
  save();
  if (!hasMore) {
    console.log(`The copy has ${Object.keys(mirror.cheeses).length} cheeses.`);
    if (isOnce) {
      break;
    }
  }
}
