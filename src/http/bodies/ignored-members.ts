/** The header Curd-Ignored: names the members of a body that no schema knows, which were ignored. */
import type { IgnoredMembers } from '../../schema/validate.ts';
import type { Exchange } from '../exchange.ts';

/** Bytes. Proxies limit the headers of a response. */
const headerLengthMax = 500;

/** Sets the header, which every response has then, and keeps the number for the request log. */
export function noteIgnored(exchange: Exchange, ignored: IgnoredMembers): void {
  exchange.ignoredMembers = ignored.count;
  const header = headerOf(ignored);
  if (header !== '') {
    exchange.reply.header('curd-ignored', header);
  }
}

/** The value of the header: whole paths only; empty if none fits. */
function headerOf({ paths }: IgnoredMembers): string {
  let header = '';
  for (const path of paths) {
    const longer = `${header}${header === '' ? '' : ', '}${encodePath(path)}`;
    header = longer.length <= headerLengthMax ? longer : header;
  }
  return header;
}

/** Percent-encodes all but letters, digits and `._-[]`: the client chooses names, and headers are ASCII. */
function encodePath(path: string): string {
  return path.replace(/[^A-Za-z0-9._\-[\]]/gu, (character) =>
    Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&'),
  );
}
