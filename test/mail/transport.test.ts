/** The SMTP transport: TLS, certificates, timeouts of connections, and the conversation that a test mail shows. */
import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { suite, test } from 'node:test';
import { openMailSender } from '../../src/mail/transport/open-sender.ts';
import type { MailResult, MailSender } from '../../src/mail/transport/transport.ts';
import type { SmtpServer } from '../../src/settings/mail.ts';
import { cleanUp, type Scope } from '../context.ts';
import { openMailServer } from './mail-shop.ts';

const outgoing = {
  from: 'shop@fromagerie.test',
  to: 'ada@customers.test',
  messageId: 'evt_abcd_1.order-placed.1@fromagerie.test',
  bytes: Buffer.from('Subject: Test\r\n\r\nA mail.\r\n'),
};

async function send(
  t: Scope,
  port: number,
  changes: Partial<SmtpServer>,
  onLine: ((line: string) => void) | null = null,
): Promise<MailResult> {
  const sender: MailSender = await openMailSender(
    {
      kind: 'smtp',
      host: '127.0.0.1',
      port,
      isImplicitTls: false,
      isVerified: true,
      login: null,
      ...changes,
    },
    onLine,
  );
  cleanUp(t, () => sender.close());
  return sender.send(outgoing);
}

suite('A mail over SMTP', () => {
  test('A mail over SMTP is not sent where the server offers no STARTTLS', async (t) => {
    const server = await openMailServer(t);
    const { outcome, reason } = await send(t, server.port, {});
    assert.equal(outcome, 'senderRefused', reason ?? '');
    assert.match(reason ?? '', /STARTTLS/);
    assert.equal(server.received.length, 0);
  });

  for (const isImplicitTls of [false, true]) {
    const how = isImplicitTls ? 'TLS from the first byte on' : 'STARTTLS';
    const options = isImplicitTls ? { secure: true } : { disabledCommands: [] };

    test(`A mail over SMTP is not sent where the certificate signs itself (${how}), and is with tls=insecure`, async (t) => {
      const server = await openMailServer(t, options);
      const refused = await send(t, server.port, { isImplicitTls });
      assert.equal(refused.outcome, 'senderRefused', refused.reason ?? '');
      assert.match(refused.reason ?? '', /certificate/);
      assert.equal(server.received.length, 0);
      const accepted = await send(t, server.port, { isImplicitTls, isVerified: false });
      assert.deepEqual(accepted, { outcome: 'sent', reason: null });
      assert.equal(server.received[0]?.subject, 'Test');
    });
  }

  test('A mail over SMTP shows the conversation without the password', async (t) => {
    const server = await openMailServer(t);
    const lines: string[] = [];
    const login = { user: 'shop', password: 'a-secret-password' };
    const result = await send(t, server.port, { isVerified: false, login }, (line) => lines.push(line));
    assert.equal(result.outcome, 'sent', result.reason ?? '');
    const text = lines.join('\n');
    assert.match(text, /^> EHLO/m);
    assert.match(text, /^< 250/m);
    assert.match(text, /^> MAIL FROM:<shop@fromagerie\.test>/m);
    assert.match(text, /^> AUTH PLAIN/m);
    const encoded = Buffer.from('\0shop\0a-secret-password').toString('base64');
    assert.ok(!text.includes('a-secret-password') && !text.includes(encoded), text);
  });

  test('A mail over SMTP is tried again where the mail server answers MAIL FROM with something that is no SMTP', async (t) => {
    const server = createServer((socket) => {
      cleanUp(t, () => socket.destroy());
      socket.write('220 ready\r\n');
      socket.on('data', (bytes) => socket.write(/^EHLO/.test(`${bytes}`) ? '250 8BITMIME\r\n' : 'what?\r\n'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp(t, () => server.close());
    const { outcome, reason } = await send(t, (server.address() as AddressInfo).port, {
      isVerified: false,
    });
    assert.equal(outcome, 'later', reason ?? '');
    assert.match(reason ?? '', /what\?/);
  });

  test('A mail over SMTP is refused for good where SMTP cannot carry the address', async (t) => {
    const server = await openMailServer(t);
    const sender = await openMailSender({
      ...{ kind: 'smtp', host: '127.0.0.1', port: server.port, isImplicitTls: false, isVerified: false },
      login: null,
    });
    cleanUp(t, () => sender.close());
    const { outcome, reason } = await sender.send({ ...outgoing, to: 'ada>@customers.test' });
    assert.equal(outcome, 'refused', reason ?? '');
    assert.doesNotMatch(reason ?? '', /customers\.test/);
  });

  test('A mail over SMTP opens two connections at most, and uses them again', async (t) => {
    let open = 0;
    let most = 0;
    let opened = 0;
    const server = await openMailServer(t, {
      onConnect(_session, done) {
        open += 1;
        opened += 1;
        most = Math.max(most, open);
        done(null);
      },
      onClose() {
        open -= 1;
      },
    });
    const sender = await openMailSender({
      ...{ kind: 'smtp', host: '127.0.0.1', port: server.port, isImplicitTls: false, isVerified: false },
      login: null,
    });
    cleanUp(t, () => sender.close());
    const results = await Promise.all(Array.from({ length: 8 }, () => sender.send(outgoing)));
    assert.deepEqual(new Set(results.map(({ outcome }) => outcome)), new Set(['sent']));
    assert.equal(server.received.length, 8);
    assert.equal(most, 2);
    assert.equal(opened, 2);
  });

  test('A mail over SMTP that has not begun is stopped when the server stops', async (t) => {
    const server = await openMailServer(t);
    const sender = await openMailSender({
      ...{ kind: 'smtp', host: '127.0.0.1', port: server.port, isImplicitTls: false, isVerified: false },
      login: null,
    });
    const results = Promise.all(Array.from({ length: 5 }, () => sender.send(outgoing)));
    sender.close();
    const outcomes = (await results).map(({ outcome }) => outcome);
    assert.ok(outcomes.filter((outcome) => outcome === 'stopped').length >= 3, outcomes.join());
  });
});
