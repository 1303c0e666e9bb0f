/** Every command that runs an operation of the API, on a shop whose server does not run. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { operationTable } from '../../src/cli/operations/table.ts';
import { secret } from '../context.ts';
import { createDatabase, engines } from '../helper.ts';
import { assertRefused, curd, curdJson, type Environment, freshShop, inShop } from './run.ts';

interface Step {
  readonly command: string;
  readonly args?: readonly string[];
  /** What the value that --json prints contains. */
  readonly json?: object;
  /** What is printed without --json. */
  readonly text?: RegExp;
  readonly code?: number;
}

const [linkForm, secretForm] = [/password-reset\/[\w-]{43}\n$/, /^whsec_\S{44}\n$/];

/** The number in the subject of a new event. */
const made = async (shop: Environment, type: string): Promise<string> =>
  (await curdJson(shop, 'trigger', type)).subject.split(':')[1];

async function openShop(t: TestContext, engine: string) {
  const shop = await freshShop(t, {
    CURD_SECRET: secret,
    CURD_MAIL: `file:${(await freshShop(t)).CURD_DATA_DIR}`,
    ...(engine === 'postgres' ? { CURD_DATABASE: await createDatabase(t) } : {}),
  });
  const cheese = await inShop(shop, async ({ cheeses, customers, contextOf }) => {
    const [context, password] = [contextOf('test'), 'correct horse battery'];
    await customers.service.register(context, { username: 'ada', email: 'ada@example.com', password });
    return (await cheeses.service.create(context, { name: 'Brie' })).id;
  });
  return {
    shop,
    cheese: String(cheese),
    key: await made(shop, 'api_key.created'),
    order: await made(shop, 'order.placed'),
    other: await made(shop, 'order.placed'),
    approvals: [await made(shop, 'approval.requested'), await made(shop, 'approval.requested')],
  };
}

function accessSteps({ key, approvals: [asked = '', denied = ''], clientId }: Made): Step[] {
  const client = { name: 'Diary', account: 'shop', scopes: ['read:cheeses', 'read:orders'] };
  const request = { id: Number(asked) };
  return [
    { command: 'accounts set-plan', args: ['shop', 'free'], json: { name: 'shop', plan: 'free' } },
    { command: 'accounts list', text: /^id +name +plan\n(.*\n)*\d+ +shop +free\n/ },
    { command: 'keys rename', args: [key, 'scanner'], json: { id: Number(key), name: 'scanner' } },
    { command: 'keys list', args: ['--account', 'shop'], text: /^The account has no active API keys\.\n$/ },
    { command: 'keys revoke', args: [key], json: { id: Number(key), revoked: true } },
    {
      command: 'clients list',
      text: /Diary +shop +read:cheeses read:orders +authorization_code refresh_token/,
    },
    { command: 'clients list', json: [client] },
    { command: 'clients delete', args: [clientId], json: { clientId, deleted: true } },
    { command: 'approvals list', args: ['--status', 'pending'], json: [{ ...request, status: 'pending' }] },
    { command: 'approvals approve', args: [asked], json: { ...request, status: 'approved' } },
    { command: 'approvals deny', args: [denied], text: new RegExp(`^Request ${denied} is denied\\.\n$`) },
    { command: 'approvals revoke', args: [asked], json: { ...request, status: 'revoked' } },
  ];
}

const customerSteps: readonly Step[] = [
  {
    command: 'customers list',
    args: ['--search', 'ad'],
    json: { items: [{ role: 'customer' }], hasMore: false },
  },
  { command: 'customers list', args: ['--search', 'zzz'], text: /^There are no such customers\.\n$/ },
  { command: 'customers set-role', args: ['ADA', 'staff'], json: { username: 'ADA', role: 'staff' } },
  {
    command: 'customers show',
    args: ['ada'],
    text: /^id +username +e-mail.*\n\d+ +ada +ada@\S+ +- +bronze +staff +\$0\.00\n$/,
  },
  { command: 'customers reset-password', args: ['ada'], text: linkForm },
  {
    command: 'customers note',
    args: ['ada', 'Young cheeses'],
    json: { text: 'Young cheeses', author: 'cli' },
  },
  { command: 'customers notes', args: ['ada'], json: { items: [{ text: 'Young cheeses' }], hasMore: false } },
];

function orderSteps({ order, other, cheese }: Made): Step[] {
  const id = Number(order);
  const stock = { cheeseId: Number(cheese) };
  return [
    {
      command: 'orders list',
      args: ['--limit', '1'],
      text: /^id +status.*\n\d+ +placed .*\nThese are 1 of \d+\. /,
    },
    { command: 'orders list', args: ['--status', 'placed,shipped', '--country', 'ch'], json: { total: 2 } },
    { command: 'orders list', args: ['--customer', 'ada'], json: { items: [], total: 0, hasMore: false } },
    { command: 'orders note', args: [order, 'Ring twice'], json: { text: 'Ring twice' } },
    { command: 'orders notes', args: [order], text: /Ring twice\n$/ },
    { command: 'orders approve', args: [order], text: new RegExp(`^Order ${id} is approved\\.\n$`) },
    { command: 'orders ship', args: [order, '--carrier', 'Swiss Post'], json: { id, status: 'shipped' } },
    {
      command: 'orders track',
      args: [order, '--tracking-number', '99.1'],
      json: { carrier: null, trackingNumber: '99.1' },
    },
    { command: 'orders deliver', args: [order], json: { id, status: 'delivered' } },
    { command: 'orders cancel', args: [other], json: { id: Number(other), status: 'cancelled' } },
    {
      command: 'discounts create',
      args: ['spring', 'percent', '--value', '10', '--uses-max', '5'],
      json: { code: 'SPRING', value: 10, usesMax: 5 },
    },
    {
      command: 'discounts change',
      args: ['spring', '--uses-max', 'none', '--from', '50'],
      json: { from: 50, usesMax: null },
    },
    { command: 'discounts show', args: ['SPRING'], text: /^used +0$/m },
    { command: 'discounts list', text: /^SPRING +percent +10 +50 /m },
    { command: 'discounts delete', args: ['SPRING'], text: /^The code SPRING is deleted\.\n$/ },
    {
      command: 'tax-rates create',
      args: ['7.25', 'Tax', '--country', 'us', '--state', 'CA'],
      json: { id: 1, country: 'US', state: 'CA', percent: 7.25 },
    },
    { command: 'tax-rates change', args: ['1', '--percent', '8'], json: { id: 1, percent: 8 } },
    { command: 'tax-rates list', args: ['--country', 'US'], text: /^1 +US +CA /m },
    { command: 'tax-rates delete', args: ['1'], json: { id: 1, deleted: true } },
    { command: 'shop show', text: /^currency +USD$/m },
    {
      command: 'shop change',
      args: [
        '--address-street',
        'Gasse 1',
        '--address-city',
        'Bern',
        '--address-country',
        'ch',
        '--phone',
        '+41',
      ],
      json: { address: { street: 'Gasse 1', street2: null, city: 'Bern', country: 'CH' }, phone: '+41' },
    },
    {
      command: 'shop change',
      args: ['--address-street2', 'Hof', '--phone', 'none'],
      json: { address: { street: 'Gasse 1', street2: 'Hof' }, phone: null },
    },
    { command: 'stock set', args: [cheese, '20', '--low-at', '5'], json: { ...stock, onHand: 20, lowAt: 5 } },
    { command: 'stock set', args: [cheese, '30.4'], json: { onHand: 30.4, lowAt: 5 } },
    {
      command: 'stock adjust',
      args: [cheese, '-26', '--reason', 'spoiled'],
      text: /^Cheese \d+: 4\.4 kg on hand, 0 kg reserved, 4\.4 kg available, low at 5 kg\.\n$/,
    },
    { command: 'stock list', args: ['--low'], json: [{ ...stock, available: 4.4 }] },
    { command: 'stock set', args: [cheese, '4', '--low-at', 'none'], json: { lowAt: null } },
    { command: 'stock list', args: ['--low'], text: /^There is no such stock\. / },
    { command: 'stock untrack', args: [cheese], json: { ...stock, tracked: false } },
    { command: 'demo remove', json: { removed: [], kept: [] } },
  ];
}

const integrationSteps: readonly Step[] = [
  { command: 'mail list', json: { items: [] } },
  { command: 'mail retry', args: ['99'], text: /^$/, code: 1 },
  {
    command: 'webhooks create',
    args: ['http://127.0.0.1:9/', '--account', 'shop', '--types', 'order.*,cheese.created'],
    text: secretForm,
  },
  { command: 'webhooks list', text: /^id .*\n(.*\n)*\d+ +shop +enabled +0 +order\.\* cheese\.created +http/ },
];

function webhookSteps(id: string): Step[] {
  const endpoint = { id: Number(id) };
  return [
    { command: 'webhooks rotate-secret', args: [id, '--overlap', '1h'], text: secretForm },
    { command: 'webhooks test', args: [id], text: / \(\d+ ms\)\n$/, code: 2 },
    { command: 'webhooks disable', args: [id], json: { ...endpoint, disabledReason: 'on_request' } },
    { command: 'webhooks enable', args: [id, '--skip'], json: { ...endpoint, status: 'enabled' } },
    {
      command: 'webhooks replay',
      args: [id, '--since', 'earliest'],
      text: /^[1-9]\d* events will be sent again\.\n$/,
    },
    { command: 'webhooks deliveries', args: [id, '--limit', '1'], json: [{ kind: 'replay' }] },
    { command: 'webhooks deliver', args: [id], text: /^Deliveries that will be sent now: \d+\.\n$/ },
    { command: 'webhooks retry', args: ['1'], text: /^Delivery \d+ sends the event\.\n$/ },
    { command: 'webhooks delete', args: [id], json: { ...endpoint, deleted: true } },
    { command: 'requests list', args: ['--status', '4xx'], text: /^$/ },
    { command: 'requests show', args: ['never'], text: /^$/, code: 1 },
    { command: 'clock show', json: { advancedBy: 'PT0S' } },
    { command: 'snapshots create', args: ['before'], json: { name: 'before' } },
    { command: 'snapshots list', text: /^id +name +created +size\n\d+ +before +\S+Z +[\d.]+ MB\n$/ },
    { command: 'snapshots restore', args: ['1'], text: /^$/, code: 1 },
    { command: 'snapshots restore', args: ['1', '--yes'], json: { restored: 1 } },
    { command: 'snapshots delete', args: ['1'], json: { deleted: 1 } },
  ];
}

type Made = Awaited<ReturnType<typeof openShop>> & { readonly clientId: string };

/** Runs a step; a change first as a dry run, which must not change what the real one does. */
async function take(shop: Environment, { command, args = [], json, text, code = 0 }: Step): Promise<void> {
  const words = command.split(' ');
  const { stdout: help } = await curd(shop, ...words, '--help');
  if (help.includes('--dry-run') && code === 0) {
    const dry = await curdJson(shop, ...words, '--dry-run', ...args);
    assert.equal(dry.dryRun, true, command);
  }
  const run = await curd(shop, ...words, ...(json === undefined ? [] : ['--json']), ...args);
  assert.equal(run.code, code, `${command}: ${run.stderr}`);
  if (json !== undefined) {
    assert.partialDeepStrictEqual(JSON.parse(run.stdout), json, command);
  } else {
    assert.match(run.stdout, text ?? /./, command);
  }
}

for (const engine of engines) {
  test(`Every command that runs an operation works on a stopped shop, and its dry run changes nothing (${engine})`, async (t) => {
    const opened = await openShop(t, engine);
    const { shop } = opened;
    await take(shop, { command: 'accounts create', args: ['shop', '--plan', 'pro'], json: { plan: 'pro' } });
    const create = ['clients', 'create', 'Diary', '--account', 'shop', '--scope', 'read:cheeses read:orders'];
    const { clientId, clientSecret } = await curdJson(
      shop,
      ...create,
      '--redirect-uri',
      'https://a.example/',
    );
    assert.match(clientSecret, /^[\w-]{43}$/);
    const first = [
      ...accessSteps({ ...opened, clientId }),
      ...customerSteps,
      ...orderSteps({ ...opened, clientId }),
      ...integrationSteps,
    ];
    for (const step of first) {
      await take(shop, step);
    }
    const endpoints = await curdJson(shop, 'webhooks', 'list');
    const second = webhookSteps(String(endpoints.at(-1).id));
    for (const step of second) {
      await take(shop, step);
    }
    const taken = ['accounts create', ...[...first, ...second].map(({ command }) => command)];
    const names = operationTable.map(({ name }) => name);
    assert.deepEqual([...new Set(taken)].sort(), names.sort(), 'a command is not tested');
  });
}

test('A command that runs an operation refuses what is not valid in one sentence, with the names of its options', async (t) => {
  const shop = await freshShop(t);
  await curdJson(shop, 'migrate');
  for (const [args, ...says] of [
    ['keys revoke abc', /"abc" is not the id of an API key\. "npx curd keys list" shows the ids\./],
    ['orders approve 0', /"0" is not the id of an order/],
    ['orders deliver 9223372036854775808', /"9223372036854775808"/],
    ['orders approve 4711', /no order with the id 4711/],
    ['orders list --cheese Brie', /"Brie" is not the id of a cheese/],
    ['orders list --customer nobody', /no customer/],
    [
      'orders ship 1 --tracking-url http://a.example',
      /--tracking-url is "http:\/\/a\.example": it must .*https/,
    ],
    ['accounts set-plan nobody free', /no account named "nobody"/],
    ['stock adjust 1 0.0005 --reason other', /<deltaKg> is "0\.0005": it must /],
    ['shop change --currency YEN', /--currency is "YEN": it must /],
    ['shop change --address-country Austria', /--address-country is "Austria": it must /],
    ['stock adjust 1 1 --reason mice', /--reason is "mice": it must be one of received/],
    ['webhooks enable one', /not the id of a webhook endpoint/],
    ['orders list --limit 0', /--limit is "0"/],
  ] as const) {
    assertRefused(await curd(shop, ...args.split(' ')), ...says);
  }
});
