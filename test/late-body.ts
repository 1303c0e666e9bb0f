/** Requests whose body follows later than their headers. */
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface LateRequest {
  /** Sends the body, and returns the response. */
  // biome-ignore lint/suspicious/noExplicitAny: tests know what the body is.
  finish(): Promise<{ status: number; json: any; headers: NodeJS.Dict<string | string[]> }>;
}

/** Sends the headers of a request. When this returns, the server has read them and waits for the body. */
export async function sendHeaders(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
): Promise<LateRequest> {
  const sending = request(url, {
    method,
    headers: { ...headers, 'Content-Length': Buffer.byteLength(body), Expect: '100-continue' },
  });
  sending.flushHeaders();
  await once(sending, 'continue');
  return {
    async finish() {
      const response = once(sending, 'response');
      sending.end(body);
      const [message] = await response;
      const content = await text(message);
      return {
        status: message.statusCode,
        json: content === '' ? undefined : JSON.parse(content),
        headers: message.headers,
      };
    },
  };
}
