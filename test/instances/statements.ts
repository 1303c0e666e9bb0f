/** A proxy in front of PostgreSQL that reads the statements of each transaction. */
import { connect, createServer } from 'node:net';
import { cleanUp, type Scope } from '../helper.ts';

export interface SentStatement {
  readonly text: string;
  /** As they were sent: texts, and bytes as texts. */
  readonly values: readonly (string | null)[];
}

interface Message {
  readonly type: string;
  readonly body: Buffer;
}

/** The messages of a client, without the first one, which has no type. */
function messageReader(): (bytes: Buffer) => Message[] {
  let rest = Buffer.alloc(0);
  let isStart = true;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const messages: Message[] = [];
    for (;;) {
      const head = isStart ? 0 : 1;
      const size = rest.length < head + 4 ? Number.POSITIVE_INFINITY : head + rest.readUInt32BE(head);
      if (rest.length < size) {
        return messages;
      }
      if (!isStart) {
        messages.push({ type: String.fromCharCode(rest[0] ?? 0), body: rest.subarray(5, size) });
      }
      isStart = false;
      rest = rest.subarray(size);
    }
  };
}

/** A text that ends with a zero byte, and where the next field begins. */
function textAt(body: Buffer, start: number): [text: string, next: number] {
  const end = body.indexOf(0, start);
  return [body.toString('utf8', start, end), end + 1];
}

function valuesOf(body: Buffer, start: number): (string | null)[] {
  let next = start + 2 + 2 * body.readUInt16BE(start);
  const count = body.readUInt16BE(next);
  next += 2;
  return Array.from({ length: count }, () => {
    const length = body.readInt32BE(next);
    next += 4 + Math.max(0, length);
    return length < 0 ? null : body.toString('utf8', next - length, next);
  });
}

/** Turns messages into statements. A prepared statement is sent once with its text, and then by its name. */
function statementReader(): (bytes: Buffer) => SentStatement[] {
  const read = messageReader();
  const prepared = new Map<string, string>();
  return (bytes) =>
    read(bytes).flatMap(({ type, body }) => {
      if (type === 'Q') {
        return { text: textAt(body, 0)[0], values: [] };
      }
      if (type === 'P') {
        const [name, next] = textAt(body, 0);
        prepared.set(name, textAt(body, next)[0]);
      }
      if (type === 'B') {
        const [name, next] = textAt(body, textAt(body, 0)[1]);
        return { text: prepared.get(name) ?? '', values: valuesOf(body, next) };
      }
      return [];
    });
}

/**
 * Starts the proxy.
 * @param onTransaction gets the statements of each transaction, in their order, when it ends
 * @returns the URL to use instead
 */
export async function readTransactions(
  t: Scope,
  url: string,
  onTransaction: (statements: readonly SentStatement[]) => void,
): Promise<string> {
  const { hostname, port } = new URL(url);
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const read = statementReader();
    let transaction: SentStatement[] | null = null;
    client.on('data', (bytes: Buffer) => {
      upstream.write(bytes);
      for (const statement of read(bytes)) {
        if (/^\s*begin\b/.test(statement.text)) {
          transaction = [];
        } else if (/^\s*(commit|rollback)\s*$/.test(statement.text)) {
          onTransaction(transaction ?? []);
          transaction = null;
        } else {
          transaction?.push(statement);
        }
      }
    });
    upstream.on('data', (bytes: Buffer) => client.write(bytes));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.setNoDelay(true);
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(t, () => server.close());
  return url.replace(`:${port}/`, `:${(server.address() as { port: number }).port}/`);
}
