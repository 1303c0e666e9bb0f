/** Several servers and killed servers: each mail is sent, and a repeated one has the same Message-ID. */
import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Engine, sql } from '../../src/database/sql.ts';
import { addMail } from '../../src/mail/jobs.ts';
import { freshShop, inShop, serve } from '../cli/run.ts';
import { createDatabase, secret, until } from '../context.ts';
import { newCheese, newOrder, registerAndLogIn } from '../shop-verbs.ts';
import { openMailServer, openMailShop, sendMails, smtpSteps } from './mail-shop.ts';

const orders = Number(process.env.CURD_TEST_MAILS ?? 16);
const kills = Number(process.env.CURD_TEST_KILLS ?? 3);

test('Two instances send each mail once', async (t) => {
  const server = await openMailServer(t);
  const shop = await openMailShop(t, server, { engine: 'postgres' });
  const other = await shop.another();
  const cheese = await newCheese(shop);
  const placed: number[] = [];
  while (placed.length < orders) {
    // An address gets 20 mails within an hour.
    const { headers } = await registerAndLogIn(shop);
    placed.push(await newOrder(placed.length % 2 === 0 ? shop : other, cheese, { headers }));
    placed.push(await newOrder(shop, cheese, { headers }));
  }
  await until(async () => {
    await Promise.all([sendMails(shop), sendMails(other)]);
    const row = await shop.app.database.get<{ count: number }>(
      sql`select count(*) as count from mail where state = 'sent'`,
    );
    return row?.count === placed.length;
  });
  const ids = server.received.map(({ messageId }) => messageId);
  assert.equal(ids.length, placed.length);
  assert.equal(new Set(ids).size, placed.length);
});

suite('A server that is killed while it sends mails', () => {
  for (const engine of ['sqlite', 'postgres'] as const) {
    test(`A server that is killed while it sends mails sends every mail at least once, with the same Message-ID (${engine})`, (t) =>
      killAndSend(t, engine));
  }
});

async function killAndSend(t: TestContext, engine: Engine): Promise<void> {
  const mailServer = await openMailServer(t);
  const place = engine === 'postgres' ? { CURD_DATABASE: await createDatabase(t, 'template_curd') } : {};
  const environment = await freshShop(t, {
    CURD_SECRET: secret,
    CURD_MAIL: mailServer.url,
    CURD_MAIL_FROM: 'shop@fromagerie.test',
    CURD_MAILS: 'password-changed',
    ...place,
  });
  const customer = await inShop(environment, async ({ customers, contextOf }) => {
    const ada = { username: 'ada', email: 'ada@customers.test', password: 'a cellar full of wheels' };
    return (await customers.service.register(contextOf('test'), ada)).id;
  });
  // Each server is killed at another step, or soon after it: also while the result is stored.
  for (let count = 0; count < kills; count += 1) {
    await inShop(environment, ({ database }) =>
      database.transaction((tx) =>
        addMail(tx, { name: 'password-changed', customer_id: customer }, Date.now()),
      ),
    );
    // The last step first, because the usual run has few kills.
    const step = smtpSteps.at(-1 - (count % smtpSteps.length));
    let isReached = false;
    mailServer.behavior.onStep = (one) => {
      isReached ||= one === step;
    };
    const server = await serve(t, environment);
    await until(async () => isReached, `${step} was not reached`);
    await setTimeout(Math.random() * 30);
    await server.stop('SIGKILL');
  }
  delete mailServer.behavior.onStep;
  const last = await serve(t, environment);
  await until(
    async () =>
      inShop(environment, async ({ database }) => {
        const row = await database.get<{ count: number }>(
          sql`select count(*) as count from mail where state = 'sent'`,
        );
        return row?.count === kills;
      }),
    'a mail was not sent',
    60_000,
  );
  assert.equal((await last.stop()).code, 0);
  const ids = mailServer.received.map(({ messageId }) => messageId);
  assert.equal(new Set(ids).size, kills);
}
