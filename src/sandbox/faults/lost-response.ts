/** Connections that fail before the client has a complete response. */
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Time for a client to close its side of the connection. */
const closeTimeoutMs = 2000;

/** Closes the connection instead of sending a response. The client sees its end (FIN). */
export function closeConnection(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  end(request, reply.raw);
}

/** Resets the connection (RST) instead of sending a response. */
export function resetConnection(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  request.raw.socket.resetAndDestroy();
}

/**
 * Lets the response send its head and half of its body, and then close the connection. A response to HEAD, one without a
 * body, and one that is a stream are sent completely: nothing says where the half of a stream is.
 */
export function truncateResponse(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = reply;
  const complete = raw.end;
  if (request.method === 'HEAD') {
    return;
  }
  // The framework passes the whole body to `end`, and the pieces of a stream to `write`.
  raw.end = ((body?: string | Uint8Array | null) => {
    if (body === undefined || body === null || body.length === 0) {
      return complete.call(raw, undefined, 'utf8');
    }
    const bytes = Buffer.from(body as string);
    raw.flushHeaders();
    raw.write(bytes.subarray(0, bytes.length >> 1));
    end(request, raw);
    return raw;
  }) as ServerResponse['end'];
}

/** Bytes that the server has not read would make the operating system reset the connection, so they are read. */
function end(request: FastifyRequest, response: ServerResponse): void {
  const { socket } = request.raw;
  request.raw.on('error', () => {});
  request.raw.resume();
  socket.end();
  setTimeout(() => response.destroy(), closeTimeoutMs).unref();
}
