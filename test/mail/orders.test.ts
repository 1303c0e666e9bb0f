/** Mails about orders: who gets which, what they say, and when there is none. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { simpleParser } from 'mailparser';
import { sql } from '../../src/database/sql.ts';
import { addMail } from '../../src/mail/jobs.ts';
import { bern, onBothEngines, openShop, shared, temporaryFolder } from '../helper.ts';
import { changeOrder, newCheese, newOrder, registerAndLogIn } from '../shop-verbs.ts';
import {
  type MailServer,
  mailsOf,
  openMailServer,
  openMailShop,
  recipientOf,
  sendMails,
  statesOf,
} from './mail-shop.ts';

onBothEngines('Mails about orders', (engine) => {
  const opened = shared(async (t) => {
    const server = await openMailServer(t);
    const settings = {
      CURD_SHOP_NAME: 'Fromagerie',
      CURD_ORDER_URL: 'https://shop.example/orders/{id}?from=mail',
      CURD_MAIL_REPLY_TO: 'help@fromagerie.test',
      CURD_PUBLIC_URL: 'https://api.fromagerie.test',
    };
    return { server, shop: await openMailShop(t, server, { engine, settings }) };
  });

  function receivedBy({ received }: MailServer, email: string) {
    return received.filter((mail) => recipientOf(mail) === email);
  }

  test('An order by key and session causes one mail, with lines, total, address and link in text and HTML', async () => {
    const { shop, server } = opened();
    const ada = await registerAndLogIn(shop, { firstName: 'Ada', lastName: 'Löwe' });
    const name = 'Gruyère of an order';
    const cheese = await newCheese(shop, { name, pricePerKg: 32.5 });
    const order = await newOrder(shop, [[cheese, 2]], {
      headers: ada.headers,
      more: {
        shippingAddress: { ...bern, zipCode: '3011', name: 'Bo & Co', company: 'Dairy', street2: 'Floor 2' },
      },
    });
    await sendMails(shop);
    const [mail, ...others] = receivedBy(server, ada.email);
    assert.deepEqual(others, []);
    assert.ok(mail !== undefined);
    assert.equal(mail.subject, `Fromagerie: your order ${order}`);
    assert.deepEqual(mail.from?.value[0], { address: 'shop@fromagerie.test', name: 'Fromagerie' });
    assert.equal([mail.to].flat()[0]?.value[0]?.name, 'Ada Löwe');
    assert.equal(mail.replyTo?.value[0]?.address, 'help@fromagerie.test');
    assert.equal(mail.headers.get('auto-submitted'), 'auto-generated');
    const [row] = (await mailsOf(shop)).filter(({ order_id }) => order_id === order);
    assert.equal(mail.messageId, `<${row?.event_id}.order-placed.${ada.id}@api.fromagerie.test>`);
    for (const content of [mail.text ?? '', String(mail.html)]) {
      assert.match(content, new RegExp(name));
      assert.match(content, /2 kg at \$32\.50 a kilogram/);
      assert.match(content, /\$65\.00/);
      assert.match(content, /Gerechtigkeitsgasse 1/);
      assert.match(content, /3011 Bern/);
      assert.match(
        content,
        /Bo &(amp;)? Co\W+(br\W+)?Dairy\W+(br\W+)?Gerechtigkeitsgasse 1\W+(br\W+)?Floor 2/,
      );
      assert.ok(content.includes(`https://shop.example/orders/${order}?from`), content);
    }
    // Nothing is loaded from elsewhere when the mail is read.
    assert.doesNotMatch(String(mail.html), /<img|<script|url\(|<link/i);

    assert.equal((await changeOrder(shop, order, 'approve')).status, 200);
    const parcel = {
      carrier: 'Swiss Post',
      trackingNumber: '99.00.123456',
      trackingUrl: 'https://carrier.test/track?parcel=99&page=1',
    };
    assert.equal((await changeOrder(shop, order, 'ship', parcel)).status, 200);
    assert.equal((await changeOrder(shop, order, 'deliver')).status, 200);
    await sendMails(shop);
    const shipped = receivedBy(server, ada.email).at(-1);
    assert.match(
      shipped?.text ?? '',
      /Carrier: Swiss Post\nTracking number: 99\.00\.123456\nFollow it: https:\/\/carrier\.test\/track\?parcel=99&page=1\n/,
    );
    assert.match(String(shipped?.html), /href="https:\/\/carrier\.test\/track\?parcel=99&amp;page=1"/);
    const subjects = receivedBy(server, ada.email).map(({ subject }) => subject);
    assert.deepEqual(subjects.slice(1), [`Fromagerie: your order ${order} is on its way`]);
  });

  test('Two mails about one order are sent one after the other, in the order of their events', async () => {
    const { shop, server } = opened();
    const ada = await registerAndLogIn(shop);
    const cheese = await newCheese(shop);
    await newOrder(shop, cheese, { headers: ada.headers });
    const headers = { 'x-confirm-delete': 'true' };
    const gone = await shop.request('DELETE', `/v2/cheeses/${cheese}`, { as: shop.admin, headers });
    assert.equal(gone.status, 204, gone.text);
    const steps: string[] = [];
    server.behavior.beforeAccept = () => sleep(50);
    server.behavior.onStep = (step) => steps.push(step);
    await sendMails(shop);
    delete server.behavior.beforeAccept;
    delete server.behavior.onStep;
    const mails = receivedBy(server, ada.email).map(({ subject = '' }) => subject.includes('cancelled'));
    assert.deepEqual(mails, [false, true]);
    assert.deepEqual(
      steps.filter((step) => step === 'content' || step === 'received'),
      ['content', 'received', 'content', 'received'],
    );
  });

  test('A mail about an order with delivery has the breakdown and the days, and that of a pickup the address of the shop', async () => {
    const { shop, server } = opened();
    const as = shop.admin;
    const ada = await registerAndLogIn(shop);
    const patch = {
      language: 'de-CH',
      timeZone: 'Europe/Zurich',
      tax: { mode: 'included' },
      address: { street: 'Naschmarkt 1', zipCode: '1060', city: 'Wien', country: 'AT' },
    };
    assert.equal((await shop.request('PATCH', '/v2/shop', { as, body: patch })).status, 200);
    const create = async (path: string, body: object) => {
      const { status, text, json } = await shop.request('POST', path, { as, body });
      assert.equal(status, 201, text);
      return json.id as number;
    };
    const parcel = await create('/v2/delivery-methods', {
      name: 'Cooled parcel',
      rates: [{ upToGrams: 9000, amount: 6.9 }],
      shipDays: ['tue'],
      transitDays: 1,
    });
    const pickup = await create('/v2/delivery-methods', { name: 'Counter', kind: 'pickup' });
    await create('/v2/tax-rates', { percent: 2.5, name: 'MWST' });
    await create('/v2/discounts', { code: 'SPRING', kind: 'amount', value: 5 });
    const cheese = await newCheese(shop, { pricePerKg: 40 });
    const gift = { message: 'For Bo, from a secret friend', hidePrices: true };
    const sent = await newOrder(shop, cheese, {
      headers: ada.headers,
      more: { deliveryMethodId: parcel, discountCode: 'SPRING', gift },
    });
    await sendMails(shop);
    const [placed] = receivedBy(server, ada.email);
    assert.match(
      placed?.text ?? '',
      /It leaves us on Dienstag, [^,]*, and is with you on Mittwoch, [^,]*\.\n/,
    );
    for (const text of [placed?.text ?? '', String(placed?.html)]) {
      assert.match(text, /Subtotal(<[^>]*>|: )*\$.?40\.00/);
      assert.match(text, /Discount SPRING(<[^>]*>|: )*-\$.?5\.00/);
      assert.match(text, /Cooled parcel(<[^>]*>|: )*\$.?6\.90/);
      assert.match(text, /MWST 2\.5 % \(included\)(<[^>]*>|: )*\$.?1\.02/);
      assert.match(text, /Total(<[^>]*>|: )*\$.?41\.90/);
      assert.match(text, /Shipping address/);
      assert.doesNotMatch(text, /secret friend|Naschmarkt/);
    }
    const fetched = await newOrder(shop, cheese, {
      headers: ada.headers,
      more: { deliveryMethodId: pickup },
    });
    for (const id of [sent, fetched]) {
      for (const change of ['approve', 'ship'] as const) {
        assert.equal((await changeOrder(shop, id, change)).status, 200);
      }
    }
    await sendMails(shop);
    const mails = receivedBy(server, ada.email).slice(1);
    assert.deepEqual(mails.map(({ subject }) => subject).toSorted(), [
      `Fromagerie: your order ${sent} is on its way`,
      `Fromagerie: your order ${fetched}`,
      `Fromagerie: your order ${fetched} is ready for pickup`,
    ]);
    const [first, ready] = mails.filter(({ subject }) => subject?.includes(`${fetched}`));
    assert.match(first?.text ?? '', /write again when it is ready\.\n\nIt is ready for you on /);
    for (const text of [ready?.text ?? '', String(ready?.html)]) {
      assert.match(text, /Pickup at[\s\S]*Fromagerie[\s\S]*Naschmarkt 1[\s\S]*1060 Wien[\s\S]*AT/);
      assert.doesNotMatch(text, /Shipping address|Gerechtigkeitsgasse/);
    }
    const listed = await shop.request('GET', `/v2/mails?orderId=${fetched}`, { as });
    assert.deepEqual(
      listed.json.items.map(({ mail }: { mail: string }) => mail),
      ['order-ready', 'order-placed'],
    );
    const reset = { language: 'en', tax: { mode: 'off' } };
    assert.equal((await shop.request('PATCH', '/v2/shop', { as, body: reset })).status, 200);
  });

  test('A cancelled order causes a mail with the reason in words', async () => {
    const { shop, server } = opened();
    const ada = await registerAndLogIn(shop);
    const name = 'Gruyère that is cancelled';
    const cheese = await newCheese(shop, { name });
    await newOrder(shop, cheese, { headers: ada.headers });
    const headers = { 'x-confirm-delete': 'true' };
    const gone = await shop.request('DELETE', `/v2/cheeses/${cheese}`, { as: shop.admin, headers });
    assert.equal(gone.status, 204, gone.text);
    await sendMails(shop);
    const mail = receivedBy(server, ada.email).find(({ subject }) => subject?.includes('cancelled'));
    assert.match(mail?.text ?? '', new RegExp(`Reason: ${name} was taken out of the catalogue`));
    assert.match(String(mail?.html), /was taken out of the catalogue/);
  });

  test('Orders of a key alone, dry runs and other events cause no mail', async () => {
    const { shop, server } = opened();
    const ada = await registerAndLogIn(shop);
    const cheese = await newCheese(shop);
    const before = (await mailsOf(shop)).length;
    await newOrder(shop, cheese);
    const dry = await shop.request('POST', '/v2/store/order', {
      as: shop.admin,
      headers: { ...ada.headers, 'dry-run': 'true' },
      body: {
        items: [{ cheeseId: cheese, quantity: 1 }],
        shippingAddress: { street: 'Way 1', city: 'Bern', country: 'CH' },
      },
    });
    assert.equal(dry.headers['dry-run'], 'true', dry.text);
    await sendMails(shop);
    assert.equal((await mailsOf(shop)).length, before);
    assert.deepEqual(receivedBy(server, ada.email), []);
  });

  test('A customer who was deleted before the mail is sent gets none, and waiting mails are dropped', async () => {
    const { shop, server } = opened();
    const ada = await registerAndLogIn(shop);
    const cheese = await newCheese(shop);
    const order = await newOrder(shop, cheese, { headers: ada.headers });
    server.behavior.data = 451;
    await sendMails(shop);
    delete server.behavior.data;
    const gone = await shop.request('DELETE', `/v2/customer/${ada.username}`, {
      headers: { ...ada.headers, 'x-confirm-delete': 'true' },
    });
    assert.equal(gone.status, 204, gone.text);
    await sendMails(shop);
    const rows = (await mailsOf(shop)).filter(({ order_id }) => order_id === order);
    assert.deepEqual(
      rows.map(({ name, state, reason }) => [name, state, reason]),
      [['order-placed', 'dropped', 'the customer was deleted']],
    );
    assert.deepEqual(receivedBy(server, ada.email), []);
    const jobs = await shop.app.database.all(sql`select key from background_job where kind = 'mail.sending'`);
    assert.deepEqual(jobs, []);
  });

  test('Names in a mail become neither headers nor HTML', async () => {
    const { shop, server } = opened();
    const bold = await registerAndLogIn(shop, {
      firstName: '<script>alert(1)</script>',
      lastName: '{{shopName}}',
    });
    const sly = await registerAndLogIn(shop);
    // The API refuses line breaks in a name: as if one had come into the database all the same.
    await shop.app.database.run(
      sql`update customer set first_name = ${'Ada\r\nBcc: x@y.test'} where id = ${sly.id}`,
    );
    const cheese = await newCheese(shop);
    for (const { headers } of [bold, sly]) {
      await newOrder(shop, cheese, { headers });
    }
    await sendMails(shop);
    const [html] = receivedBy(server, bold.email);
    assert.match(String(html?.html), /Hello &lt;script&gt;alert\(1\)/);
    assert.doesNotMatch(String(html?.html), /<script/);
    assert.match(html?.text ?? '', /Hello <script>alert\(1\)<\/script> \{\{shopName\}\},/);
    const [plain] = receivedBy(server, sly.email);
    assert.ok(plain !== undefined);
    assert.equal(plain.bcc, undefined);
    assert.equal(plain.headers.has('bcc'), false);
    assert.equal([plain.to].flat()[0]?.value[0]?.name, 'Ada Bcc: x@y.test');
    assert.deepEqual(receivedBy(server, 'x@y.test'), []);
  });

  test('An address gets twenty mails within an hour; further ones are dropped and counted', async () => {
    const { shop, server } = opened();
    const ada = await registerAndLogIn(shop);
    const cheese = await newCheese(shop);
    for (let count = 0; count < 22; count += 1) {
      await newOrder(shop, cheese, { headers: ada.headers });
    }
    await sendMails(shop);
    assert.equal(receivedBy(server, ada.email).length, 20);
    const dropped = (await mailsOf(shop)).filter(
      ({ customer_id, state }) => customer_id === ada.id && state === 'dropped',
    );
    assert.deepEqual(
      dropped.map(({ reason }) => reason),
      Array(2).fill('the address got 20 mails within an hour'),
    );
    const metrics = await shop.request('GET', '/metrics', { as: shop.admin });
    assert.match(metrics.text, /^curd_mails_total\{mail="order-placed",state="dropped"\} [2-9]/m);
    // Twenty order mails leave room for warnings, which are counted by themselves.
    const before = receivedBy(server, ada.email).length;
    await shop.app.database.transaction(async (tx) => {
      for (let count = 0; count < 22; count += 1) {
        await addMail(tx, { name: 'password-changed', customer_id: ada.id }, shop.clock.now());
      }
    });
    await sendMails(shop);
    assert.equal(receivedBy(server, ada.email).length - before, 20);
    // Who registers the address of a stranger again and again begins no new count.
    const deleted = await shop.request('DELETE', `/v2/customer/${ada.username}`, { headers: ada.headers });
    assert.equal(deleted.status, 204, deleted.text);
    const again = await registerAndLogIn(shop, { email: ada.email });
    await newOrder(shop, cheese, { headers: again.headers });
    const tagged = await registerAndLogIn(shop, { email: ada.email.replace('@', '+1@') });
    await newOrder(shop, cheese, { headers: tagged.headers });
    await sendMails(shop);
    assert.equal(receivedBy(server, ada.email).length - before, 20);
    assert.deepEqual(receivedBy(server, tagged.email), [], 'an address of the same mailbox');
  });
});

test('Mails to a folder are valid files, one for each', async (t) => {
  const folder = join(await temporaryFolder(t), 'mail');
  const shop = await openShop(t, { settings: { CURD_MAIL: `file:${folder}` } });
  await sendMails(shop);
  const ada = await registerAndLogIn(shop, { firstName: 'Ada' });
  const name = 'Gruyère in a file';
  const cheese = await newCheese(shop, { name });
  await newOrder(shop, cheese, { headers: ada.headers });
  await newOrder(shop, cheese, { headers: ada.headers });
  await sendMails(shop);
  assert.deepEqual(await statesOf(shop), ['order-placed sent', 'order-placed sent']);
  const files = await readdir(folder);
  assert.equal(files.length, 2);
  for (const file of files) {
    assert.match(file, /^evt_\w+\.order-placed\.\d+\.eml$/);
    const mail = await simpleParser(await readFile(join(folder, file)));
    assert.equal(recipientOf(mail), ada.email);
    assert.match(mail.text ?? '', new RegExp(name));
    assert.match(String(mail.html), new RegExp(name));
  }
});

test('CURD_MAILS chooses the mails, and order-delivered can be added', async (t) => {
  const server = await openMailServer(t);
  const shop = await openMailShop(t, server, { settings: { CURD_MAILS: 'order-delivered' } });
  const ada = await registerAndLogIn(shop);
  const cheese = await newCheese(shop);
  const order = await newOrder(shop, cheese, { headers: ada.headers });
  assert.equal((await changeOrder(shop, order, 'approve')).status, 200);
  assert.equal((await changeOrder(shop, order, 'ship')).status, 200);
  assert.equal((await changeOrder(shop, order, 'deliver')).status, 200);
  await sendMails(shop);
  assert.deepEqual(await statesOf(shop), ['order-delivered sent']);
});
