/**
 * Sends mails over SMTP, on two connections, ten mails a second. A connection stays open for a moment after a mail,
 * because opening one costs more than a mail.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { SmtpServer } from '../../settings/mail.ts';
import { resultOfError, type SmtpError } from './smtp-errors.ts';
import type { MailResult, MailSender, Outgoing } from './transport.ts';

const connectionsMax = 2;
const mailsPerSecond = 10;
/** Longest time for opening a connection, for the sign-in and for a mail. */
const timeoutMs = 30_000;
/** Servers end connections without traffic. A mail on one that has ended would be tried again a minute later. */
const keptMs = 1000;
/** A response of a server that never ends must not fill the memory. */
const responseBytesMax = 64 * 1024;

interface Waiting {
  readonly mail: Outgoing;
  readonly resolve: (result: MailResult) => void;
}

export function createSmtpSender(server: SmtpServer, onLine: ((line: string) => void) | null): MailSender {
  const queue: Waiting[] = [];
  /** Lines without a mail, which wait for one. */
  const idle = new Set<() => void>();
  const pace = createPace(mailsPerSecond);
  let lines = 0;
  let isClosed = false;

  /** Sends mails one after the other on a connection, until there is none for a moment. */
  async function runLine(): Promise<void> {
    let connection: SMTPConnection | null = null;
    for (;;) {
      if (queue.length === 0 && !isClosed) {
        await waitForMail();
      }
      const next = queue.shift();
      if (next === undefined) {
        break;
      }
      await pace();
      if (isClosed) {
        next.resolve(stopped);
        continue;
      }
      try {
        // A server may have closed it meanwhile.
        connection = connection === null || connection.destroyed ? await connect(server, onLine) : connection;
        await sendOn(connection, next.mail);
        next.resolve({ outcome: 'sent', reason: null });
      } catch (error) {
        connection?.close();
        connection = null;
        const result = resultOfError(error as SmtpError);
        next.resolve(result);
        if (result.outcome === 'senderRefused') {
          // The others would be refused in the same way.
          for (const { resolve } of queue.splice(0)) {
            resolve(result);
          }
        }
      }
    }
    connection?.quit();
  }

  function waitForMail(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(end, keptMs);
    function end(): void {
      clearTimeout(timer);
      idle.delete(end);
      resolve();
    }
    idle.add(end);
    return promise;
  }

  return {
    send(mail) {
      if (isClosed) {
        return Promise.resolve(stopped);
      }
      return new Promise((resolve) => {
        queue.push({ mail, resolve });
        const [wake] = idle;
        if (wake !== undefined) {
          wake();
        } else if (lines < connectionsMax) {
          lines += 1;
          void runLine().finally(() => {
            lines -= 1;
          });
        }
      });
    },
    close() {
      isClosed = true;
      for (const { resolve } of queue.splice(0)) {
        resolve(stopped);
      }
      for (const end of [...idle]) {
        end();
      }
    },
  };
}

const stopped: MailResult = { outcome: 'stopped', reason: null };

/** Opens a connection and signs in. */
async function connect(server: SmtpServer, onLine: ((line: string) => void) | null): Promise<SMTPConnection> {
  const { host, port, isImplicitTls, isVerified, login } = server;
  const connection = new SMTPConnection({
    host,
    port,
    secure: isImplicitTls,
    requireTLS: isVerified && !isImplicitTls,
    opportunisticTLS: !isVerified,
    tls: { rejectUnauthorized: isVerified, minVersion: 'TLSv1.2' },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    socketCloseTimeout: 0,
    maxResponseSize: responseBytesMax,
    ...(onLine === null ? {} : { logger: lineLogger(onLine), transactionLog: true }),
  });
  await run(connection, (done) => connection.connect(done));
  if (login !== null) {
    const { user, password: pass } = login;
    await run(connection, (done) => connection.login({ credentials: { user, pass } }, done));
  }
  return connection;
}

async function sendOn(connection: SMTPConnection, { from, to, bytes }: Outgoing): Promise<void> {
  await run(connection, (done) => connection.send({ from, to: [to], size: bytes.length }, bytes, done));
}

/** Runs one step of a connection. Errors come to the callback or as an event. */
function run(
  connection: SMTPConnection,
  step: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => done(Object.assign(new Error('The mail server did not finish in time.'), { code: 'ETIMEDOUT' })),
      timeoutMs,
    );
    function done(error?: Error | null): void {
      clearTimeout(timer);
      connection.off('end', onEnd);
      // The listener for errors stays: an error between two mails would end the process.
      if (error === undefined || error === null) {
        resolve();
      } else {
        connection.close();
        reject(error);
      }
    }
    const onEnd = () => done(new Error('The mail server closed the connection.'));
    connection.removeAllListeners('error');
    connection.on('error', done);
    connection.once('end', onEnd);
    step(done);
  });
}

/** A logger of nodemailer that passes on what client and server said. nodemailer leaves out passwords. */
function lineLogger(onLine: (line: string) => void) {
  const write = (entry: unknown, text?: unknown, ...values: readonly unknown[]) => {
    const { tnx } = (entry ?? {}) as { tnx?: string };
    if (tnx === 'client' || tnx === 'server') {
      const line = values.reduce<string>(
        (shown, value) => shown.replace('%s', () => String(value)),
        String(text),
      );
      onLine(`${tnx === 'client' ? '>' : '<'} ${line.replace(/\r?\n/g, '\n  ')}`);
    }
  };
  const ignore = () => {};
  return {
    level: ignore,
    trace: ignore,
    debug: write,
    info: write,
    warn: ignore,
    error: ignore,
    fatal: ignore,
  };
}

const secondMs = 1000;

/** Returns a function that waits until one more may begin. Callers wait one after the other. */
function createPace(perSecond: number): () => Promise<void> {
  /** When the last ones began, the oldest first. */
  const begun: number[] = [];
  let turn: Promise<void> = Promise.resolve();

  async function wait(): Promise<void> {
    const oldest = begun.length < perSecond ? undefined : begun.shift();
    const waitMs = oldest === undefined ? 0 : oldest + secondMs - performance.now();
    if (waitMs > 0) {
      await sleep(waitMs);
    }
    begun.push(performance.now());
  }

  return () => {
    turn = turn.then(wait);
    return turn;
  };
}
