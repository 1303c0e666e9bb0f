/** A name server on loopback, which webhook hosts are looked up at until the end of the test. */
import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { replaceNameServers } from '../../src/webhooks/requests/host-lookup.ts';
import { cleanUp, type Scope } from '../context.ts';

/** By host. A host that is missing does not exist. */
type Addresses = Readonly<Record<string, readonly string[]>>;

const typeA = 1;
const typeAaaa = 28;
const headerBytes = 12;

/** @param addresses null: it never responds @returns the number of requests so far */
export async function openNameServer(t: Scope, addresses: Addresses | null): Promise<() => number> {
  const socket = createSocket('udp4');
  let requests = 0;
  socket.on('message', (request, { address, port }) => {
    requests += 1;
    if (addresses !== null) {
      socket.send(responseTo(request, addresses), port, address);
    }
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  replaceNameServers([`127.0.0.1:${socket.address().port}`]);
  cleanUp(t, () => {
    replaceNameServers(null);
    socket.close();
  });
  return () => requests;
}

function responseTo(request: Buffer, addresses: Addresses): Buffer {
  const labels: string[] = [];
  let end = headerBytes;
  for (let length = request[end] ?? 0; length > 0; length = request[end] ?? 0) {
    labels.push(request.toString('latin1', end + 1, end + 1 + length));
    end += 1 + length;
  }
  const type = request.readUInt16BE(end + 1);
  // c-ares writes names in random case, and compares the response with them.
  const known = addresses[labels.join('.').toLowerCase()];
  const records = (known ?? [])
    .filter((address) => (isIP(address) === 4 ? typeA : typeAaaa) === type)
    .map((address) => {
      const bytes = Buffer.from(ipaddr.parse(address).toByteArray());
      // The name of the question, the class IN, 60 s.
      const fields = [0xc00c, type, 1, 0, 60, bytes.length];
      return Buffer.concat([Buffer.from(new Uint16Array(fields).buffer).swap16(), bytes]);
    });
  const flags = known === undefined ? 0x8183 : 0x8180;
  const counts = Buffer.from(new Uint16Array([flags, 1, records.length, 0, 0]).buffer).swap16();
  return Buffer.concat([request.subarray(0, 2), counts, request.subarray(headerBytes, end + 5), ...records]);
}
