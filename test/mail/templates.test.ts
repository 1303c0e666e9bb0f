/** Templates: the built-in ones, those of a shop, and the commands that show them. */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { checkTemplate } from '../../src/mail/content/check.ts';
import { renderMail } from '../../src/mail/content/render.ts';
import { templateFiles } from '../../src/mail/content/template-files.ts';
import { readBuiltInTemplates, readTemplates } from '../../src/mail/content/templates.ts';
import { sampleVariables as sampleOf } from '../../src/mail/content/variables.ts';
import { mailNames } from '../../src/settings/mail.ts';
import { curd, curdProcess, freshShop, inShop } from '../cli/run.ts';
import { shared, temporaryFolder } from '../context.ts';

const sampleVariables = sampleOf({ currency: 'USD' });

suite('Templates of mails', () => {
  test('Templates of mails by Curd are valid, use every variable, and have text and HTML', async () => {
    const templates = await readBuiltInTemplates();
    assert.deepEqual(Object.keys(templates).toSorted(), templateFiles.toSorted());
    for (const name of mailNames) {
      for (const ending of ['subject.txt', 'txt', 'html']) {
        checkTemplate(templates, name, `${name}.${ending}`, '');
      }
      const { subject, text, html } = renderMail(templates, name, sampleVariables[name] as never);
      assert.match(subject, /^Fromagerie: /);
      assert.match(text, /^Hello Ada Lovelace,\n/);
      assert.doesNotMatch(text, /\n\n\n|\{\{|<|&/);
      assert.match(html, /^<!doctype html>/);
      assert.doesNotMatch(html, /\{\{|<img|<script|url\(|https?:\/\/(?!shop\.example|tracking\.example)/);
      for (const value of shownValues(sampleVariables[name])) {
        assert.ok(text.includes(value), `${name}: the text has no ${value}`);
        assert.ok(html.includes(value), `${name}: the HTML has no ${value}`);
      }
    }
  });

  test('Templates of mails have variables that docs/mail.md lists, all of them', async () => {
    const page = await readFile(new URL('../../docs/mail.md', import.meta.url), 'utf8');
    const [, section = ''] = /^## Templates$(.*?)^## /ms.exec(page) ?? [];
    const rows = section.split('\n').filter((line) => line.startsWith('|'));
    const listed = new Set(rows.flatMap((row) => [...row.matchAll(/`([\w.]+)`/g)].map(([, name]) => name)));
    const missing = mailNames.flatMap((name) =>
      namesOf(sampleVariables[name]).filter((variable) => !listed.has(variable)),
    );
    assert.deepEqual(missing, []);
  });

  for (const [file, text, problem] of [
    ['order-placed.txt', 'Your {{order.totl}}', /order-placed\.txt: .*no variable "order\.totl"/],
    ['order-placed.html', '{{#order.lines}}{{weight}}{{/order.lines}}', /no variable "weight"/],
    ['order-placed.html', '{{{customer.name}}}', /order-placed\.html: customer\.name .* without escaping/],
    ['order.html', '{{&shopName}}', /order\.html: shopName .* without escaping/],
    ['password-reset.txt', '{{order.number}}', /the mail password-reset has no variable/],
    ['order-placed.txt', '{{#order}}', /Unclosed section "order"/],
    ['order-placed.txt', '{{> lines}}', /\{\{> lines\}\} is unknown/],
    ['order.txt', '{{> order}}', /\{\{> order\}\} is unknown/],
    ['order-placed.txt', '{{=<% %>=}}', /changes the delimiters/],
    ['order-lost.txt', 'Lost', /order-lost\.txt is no template/],
    ['order-placed.txt', 'x'.repeat(300_000), /has more than 256 KiB/],
  ] as const) {
    test(`Templates of mails are refused: ${file} with ${text.slice(0, 40)}`, async (t) => {
      const folder = await temporaryFolder(t);
      await writeFile(join(folder, file), text);
      await assert.rejects(readTemplates(folder), (error: Error) => {
        assert.match(error.message, problem);
        assert.ok(error.message.includes(folder));
        return true;
      });
    });
  }

  test('Templates of mails say nothing of delivery where an order has none', async () => {
    const templates = await readBuiltInTemplates();
    const { order, ...rest } = sampleVariables['order-placed'];
    const plain = { ...order, breakdown: null, delivery: null, total: '$47.50', shipDate: '2026-06-03' };
    assert.equal(
      renderMail(templates, 'order-placed', { ...rest, order: plain }).text,
      `Hello Ada Lovelace,

thank you for your order. We have received it, and write again when it is on its way.

We expect to ship it on 2026-06-03.

Order 31, placed on 2026-06-01

  Gruyère AOP
    3 × 200 g at $6.50 ($32.50 a kilogram): $19.50
  Brie de Meaux
    1 kg at $28.00 a kilogram: $28.00

  Total: $47.50

Shipping address

  Ada Lovelace
  Analytical Engines
  Gerechtigkeitsgasse 1
  2nd floor
  3011 Bern, BE
  CH

The order on our site: https://shop.example/orders/31

--
Fromagerie. This mail was sent automatically.
`,
    );
  });

  test('Templates of mails by a shop replace single files', async (t) => {
    const folder = await temporaryFolder(t);
    await writeFile(
      join(folder, 'order-placed.subject.txt'),
      '{{! a comment }}Merci, {{customer.firstName}} &\n',
    );
    const templates = await readTemplates(folder);
    const mail = renderMail(templates, 'order-placed', sampleVariables['order-placed']);
    assert.equal(mail.subject, 'Merci, Ada &');
    assert.match(
      mail.text,
      /3 × 200 g at \$6\.50 \(\$32\.50 a kilogram\): \$19\.50[\s\S]*1 kg at \$28\.00[\s\S]*Total: \$49\.65/,
    );
  });

  test('Templates of mails escape any name in HTML, and keep a subject on one line', async () => {
    const templates = await readBuiltInTemplates();
    const sample = sampleVariables['order-placed'];
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        const variables = { ...sample, shopName: name, customer: { ...sample.customer, name } };
        const { subject, html } = renderMail(templates, 'order-placed', variables);
        assert.doesNotMatch(subject, /\p{Cc}/u);
        const tags = html.match(/<[^>]*>/g)?.length;
        assert.equal(tags, renderMail(templates, 'order-placed', sample).html.match(/<[^>]*>/g)?.length);
      }),
      { numRuns: 50 },
    );
  });
});

/** `order.total`; of a list, the names of its entries. */
function namesOf(sample: object, path = ''): string[] {
  return Object.entries(sample).flatMap(([name, value]): string[] => {
    if (Array.isArray(value)) {
      return [`${path}${name}`, ...namesOf(value[0])];
    }
    return typeof value === 'object' && value !== null
      ? namesOf(value, `${path}${name}.`)
      : [`${path}${name}`];
  });
}

/** Texts of a sample that a mail has to show. */
function shownValues(sample: object): string[] {
  // The text of a line in pieces has their weight.
  const hidden = [
    'firstName',
    'lastName',
    'username',
    'isClient',
    'isApiKey',
    'isPickup',
    'isIncluded',
    'shipDate',
    'leavesOn',
    'arrivesOn',
    'kilograms',
  ];
  if ('pickupAddress' in sample && sample.pickupAddress !== null) {
    hidden.push('shippingAddress');
  }
  return Object.entries(sample).flatMap(([name, value]): string[] => {
    if (hidden.includes(name) || value === null) {
      return [];
    }
    return typeof value === 'object' ? shownValues(value) : [String(value)];
  });
}

suite('curd mail', () => {
  const opened = shared(async (t) => {
    const shop = await freshShop(t as never);
    await inShop(shop, async () => {});
    return shop;
  });

  test('curd mail preview prints a mail with invented data, as text, HTML or JSON', async () => {
    const text = await curd(opened(), 'mail', 'preview', 'order-shipped');
    assert.equal(text.code, 0, text.stderr);
    assert.match(text.stdout, /^Subject: Fromagerie: your order 31 is on its way\n\nHello Ada Lovelace,/);
    const html = await curd(opened(), 'mail', 'preview', 'order-shipped', '--html');
    assert.match(html.stdout, /^<!doctype html>/);
    const json = await curd(opened(), 'mail', 'preview', 'order-shipped', '--json');
    assert.deepEqual(Object.keys(JSON.parse(json.stdout)), ['subject', 'text', 'html']);
    const missing = await curd(opened(), 'mail', 'preview', 'order-shipped', '--order', '31');
    assert.match(missing.stderr, /There is no order 31 with a customer/);
    const other = await curd(opened(), 'mail', 'preview', 'key-created', '--order', '31');
    assert.match(other.stderr, /is about no order/);
  });

  test('curd mail templates export writes all templates, replaces none, and serve refuses a broken one', async (t) => {
    const folder = join(await temporaryFolder(t), 'templates');
    const exported = await curd(opened(), 'mail', 'templates', 'export', folder);
    assert.equal(exported.code, 0, exported.stderr);
    assert.deepEqual((await readdir(folder)).toSorted(), templateFiles.toSorted());
    assert.equal(
      await readFile(join(folder, 'order.txt'), 'utf8'),
      (await readBuiltInTemplates())['order.txt'],
    );
    const again = await curd(opened(), 'mail', 'templates', 'export', folder);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /already exists/);
    await writeFile(join(folder, 'key-created.html'), '{{credential.secret}}');
    const settings = { ...opened(), CURD_MAIL_TEMPLATES: folder };
    const served = await curdProcess(settings, 'serve', '--port', '0');
    assert.equal(served.code, 1, served.stdout);
    assert.match(served.stderr, /key-created\.html: .*no variable "credential\.secret"/);
  });

  test('curd mail test writes a mail to the folder, and says that mail is off', async (t) => {
    const folder = await temporaryFolder(t);
    const settings = { ...opened(), CURD_MAIL: `file:${folder}` };
    const written = await curd(settings, 'mail', 'test', 'ada@customers.test');
    assert.equal(written.code, 0, written.stderr);
    assert.match(written.stdout, /was written to/);
    assert.equal((await readdir(folder)).length, 1);
    const off = await curd({ ...opened(), CURD_MAIL: 'off' }, 'mail', 'test', 'ada@customers.test');
    assert.match(off.stderr, /Mail is off/);
    const wrong = await curd(settings, 'mail', 'test', 'ada');
    assert.match(wrong.stderr, /is no e-mail address/);
    const down = await curd(
      { ...opened(), CURD_MAIL: 'smtp://127.0.0.1:9', CURD_MAIL_FROM: 'shop@fromagerie.test' },
      ...['mail', 'test', 'ada@customers.test'],
    );
    assert.equal(down.code, 2, down.stderr);
    assert.match(down.stdout, /was not sent: .*ECONNREFUSED/);
  });

  for (const [what, environment, message] of [
    [
      'file: in production',
      { CURD_MAIL: 'file:mails', CURD_ENVIRONMENT: 'production' },
      /production would send no mail/,
    ],
    [
      'tls=insecure in production',
      { CURD_MAIL: 'smtp://u:p@h?tls=insecure', CURD_ENVIRONMENT: 'production' },
      /has tls=insecure/,
    ],
    ['SMTP without a sender', { CURD_MAIL: 'smtp://u:p@h' }, /CURD_MAIL_FROM is not set/],
    [
      'an unknown URL, without its password',
      { CURD_MAIL: 'imap://u:topsecret@h' },
      /CURD_MAIL is not understood/,
    ],
    ['a sender that is no address', { CURD_MAIL_FROM: 'Fromagerie' }, /CURD_MAIL_FROM is "Fromagerie"/],
    [
      'an address with a line break',
      { CURD_MAIL_REPLY_TO: 'a@b.test\r\nBcc: c@d.test' },
      /CURD_MAIL_REPLY_TO/,
    ],
    ['an unknown mail', { CURD_MAILS: 'order-placed,order-lost' }, /contains "order-lost"/],
    ['an order URL without {id}', { CURD_ORDER_URL: 'https://shop.example/orders' }, /with \{id\}/],
    ['limits that are no numbers', { CURD_RESET_LIMITS: '{"customer":"3"}' }, /CURD_RESET_LIMITS/],
  ] as const) {
    test(`curd mail refuses ${what}`, async () => {
      const production = { CURD_SECRET: 'x'.repeat(32), CURD_PUBLIC_URL: 'https://shop.example' };
      const { code, stdout, stderr } = await curd(
        { ...opened(), ...production, ...environment },
        ...['mail', 'preview', 'order-placed'],
      );
      assert.equal(code, 1, stdout);
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /topsecret/);
    });
  }
});
