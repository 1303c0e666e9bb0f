/**
 * Bodies of requests that got their response early, mostly a refusal. Many clients read the response only after they have
 * sent the whole body, so the rest is read and discarded, up to a bound. A client that sends it slowly would keep its
 * connection: it is closed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

const checkMs = 5000;
/** The least that a client must send between two checks. */
const checkBytesMin = 64 * 1024;
const discardedBytesMax = 64 * 1024 * 1024;

/** Called for every request, before anything reads its body. */
export function limitUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (length !== undefined || encoding !== undefined) {
    response.once('finish', () => discardRest(request));
  }
}

/** Bytes are counted on the socket, because Node reads the rest of some requests by itself. */
function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) {
    return;
  }
  const { socket } = request;
  const startedAt = socket.bytesRead;
  let last = startedAt;
  const timer = setInterval(() => {
    const { bytesRead } = socket;
    if (request.complete) {
      clearInterval(timer);
    } else if (bytesRead - last < checkBytesMin || bytesRead - startedAt > discardedBytesMax) {
      socket.destroy();
    }
    last = bytesRead;
  }, checkMs).unref();
  request.once('close', () => clearInterval(timer));
  request.on('error', () => {});
  request.resume();
}
