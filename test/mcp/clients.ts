/** MCP clients of tests: the official one, and raw messages. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { cleanUp, type ListeningShop, type Scope, type Shop, type TestResponse } from '../helper.ts';

export const newest = '2026-07-28';
export const revisions = [newest, '2025-11-25'] as const;

/** An official client, connected with a credential. */
export async function connect(
  t: Scope,
  shop: ListeningShop,
  key: string,
  revision: (typeof revisions)[number] = newest,
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: revision === newest ? { pin: newest } : 'legacy' } },
  );
  const transport = new StreamableHTTPClientTransport(new URL(`${shop.url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  cleanUp(t, () => client.close());
  return client;
}

/** Sends a message of an older revision, which needs no headers of the protocol. */
export function send(
  shop: Shop,
  as: string,
  method: string,
  params: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<TestResponse> {
  return shop.request('POST', '/mcp', { as, headers, body: { jsonrpc: '2.0', id: 1, method, params } });
}

/** The result of a tool. */
export async function run(shop: Shop, as: string, name: string, given: object) {
  const { json, text } = await send(shop, as, 'tools/call', { name, arguments: given });
  if (json?.result === undefined) {
    throw new Error(text);
  }
  return json.result;
}

/** A key that can run every tool. */
export const agentKey = (shop: Shop): Promise<string> =>
  shop.createKey({ scopes: ['read:cheeses', 'read:orders', 'write:orders'] });
