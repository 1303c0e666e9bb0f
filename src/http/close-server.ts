import type { FastifyInstance } from 'fastify';

/** How long running requests may take after the server was told to stop. */
const stopTimeoutMs = 30_000;

/** Graceful shutdown: stops listening, and waits for running requests. Their connections are cut when they take too long. */
export async function closeServer(app: FastifyInstance): Promise<void> {
  // Connections become idle when their last response was sent, and would stay open for further requests.
  const closing = setInterval(() => app.server.closeIdleConnections(), 50);
  const timeout = setTimeout(() => app.server.closeAllConnections(), stopTimeoutMs);
  await app.close();
  clearInterval(closing);
  clearTimeout(timeout);
}
