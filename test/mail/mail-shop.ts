/** A mail server, and a shop that sends to it, for tests. */
import type { AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { sql } from '../../src/database/sql.ts';
import type { MailRow } from '../../src/mail/queries.ts';
import { cleanUp, openShop, type Scope, type Shop, type ShopOptions, until } from '../helper.ts';

export const smtpSteps = ['connection', 'auth', 'sender', 'recipient', 'content', 'received'] as const;
export type SmtpStep = (typeof smtpSteps)[number];

/** A response code for each step; accepted where it is absent. */
export interface Behavior {
  auth?: number;
  sender?: number;
  recipient?: number;
  data?: number;
  /** Called with each mail before it is accepted. */
  beforeAccept?: () => Promise<void> | void;
  /** Called when a client has come so far, before the server responds. */
  onStep?: (step: SmtpStep) => void;
}

export interface MailServer {
  readonly port: number;
  /** For CURD_MAIL. */
  readonly url: string;
  readonly received: ParsedMail[];
  readonly behavior: Behavior;
  /** Sign-ins. */
  signIns(): number;
  /** Stops listening, like a server that is down. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

function refusal(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

export async function openMailServer(t: Scope, options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ParsedMail[] = [];
  const behavior: Behavior = {};
  let signIns = 0;
  let port = 0;
  let server: SMTPServer;

  function make(): SMTPServer {
    const made = new SMTPServer({
      authOptional: true,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      onConnect(_session, done) {
        behavior.onStep?.('connection');
        done(null);
      },
      onAuth(_auth, _session, done) {
        behavior.onStep?.('auth');
        signIns += 1;
        done(behavior.auth === undefined ? null : refusal(behavior.auth, '5.7.8 Bad credentials'), {
          user: 'shop',
        });
      },
      onMailFrom(_address, _session, done) {
        behavior.onStep?.('sender');
        done(behavior.sender === undefined ? null : refusal(behavior.sender, 'Sender refused'));
      },
      onRcptTo({ address }, _session, done) {
        behavior.onStep?.('recipient');
        done(
          behavior.recipient === undefined ? null : refusal(behavior.recipient, `<${address}> is unknown`),
        );
      },
      onData(stream, _session, done) {
        behavior.onStep?.('content');
        simpleParser(stream)
          .then(async (mail) => {
            if (behavior.data !== undefined) {
              done(refusal(behavior.data, 'Try another day'));
              return;
            }
            received.push(mail);
            await behavior.beforeAccept?.();
            behavior.onStep?.('received');
            done(null);
          })
          .catch(done);
      },
      ...options,
    });
    // Connections that a client resets.
    made.on('error', () => {});
    return made;
  }

  async function start(): Promise<void> {
    server = make();
    await new Promise<void>((resolve) => {
      server.listen(port, '127.0.0.1', resolve);
    });
    port = (server.server.address() as AddressInfo).port;
  }

  function stop(): Promise<void> {
    return new Promise((resolve) => {
      server.close(() => resolve());
    });
  }
  await start();
  cleanUp(t, stop);
  return {
    port,
    url: `smtp://shop:p%40ss@127.0.0.1:${port}`,
    received,
    behavior,
    signIns: () => signIns,
    stop,
    start,
  };
}

/** A shop that has begun to make mails of events. */
export async function openMailShop(
  t: Scope,
  server: Pick<MailServer, 'url'>,
  { settings = {}, ...options }: ShopOptions = {},
): Promise<Shop> {
  const shop = await openShop(t, {
    ...options,
    settings: { CURD_MAIL: server.url, CURD_MAIL_FROM: 'Fromagerie <shop@fromagerie.test>', ...settings },
  });
  await sendMails(shop);
  return shop;
}

/** Makes mails of all events, and sends what is due. */
export async function sendMails(shop: Shop): Promise<void> {
  await until(async () => {
    const row = await shop.app.database.get<{ waiting: number }>(
      sql`select count(*) as waiting from event where sequence is null`,
    );
    return row?.waiting === 0;
  });
  await shop.app.mail.worker.run();
}

/** The rows of mails, the oldest first. */
export function mailsOf(shop: Shop): Promise<MailRow[]> {
  return shop.app.database.all<MailRow>(sql`select * from mail order by id`);
}

/** `order-placed sent`, for each mail. */
export async function statesOf(shop: Shop): Promise<string[]> {
  return (await mailsOf(shop)).map(({ name, state }) => `${name} ${state}`);
}

/** The address of a received mail. */
export function recipientOf({ to }: ParsedMail): string {
  return [to].flat()[0]?.value[0]?.address ?? '';
}
