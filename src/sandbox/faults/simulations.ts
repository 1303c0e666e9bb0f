/** Does what a request asks for with Sandbox-Simulate. */
import type { Access } from '../../access/access.ts';
import { AppError, unavailable, validationError } from '../../errors.ts';
import type { Exchange, Simulation } from '../../http/exchange.ts';
import { byLabel, counter } from '../../http/metrics/metrics.ts';
import { chain, type MaybePromise } from '../../maybe-promise.ts';
import { closeConnection, resetConnection, truncateResponse } from './lost-response.ts';
import {
  connectionFailures,
  parseSimulation,
  type RequestedSimulation,
  type SimulatedStatus,
  simulatedStatuses,
} from './simulation-header.ts';

/** Requests that wait at once. Each keeps its connection. */
const delayedMax = 100;
const retrySeconds = 1;
const did = 'The request asked for this with Sandbox-Simulate. Nothing was done.';

/** Simulations of one server. `begin` is a step of the pipeline. */
export function createSimulations() {
  const counts = Object.fromEntries(
    ['slow', ...simulatedStatuses, ...connectionFailures].map((name) => [name, 0]),
  );
  const delayed = new Set<() => void>();
  let isStopped = false;

  /** Ends early when the client closes the connection, or the server stops. @throws AppError unavailable */
  function delay(exchange: Exchange, milliseconds: number): MaybePromise<void> {
    if (milliseconds === 0 || isStopped) {
      return;
    }
    if (delayed.size >= delayedMax) {
      throw unavailable(
        `${delayedMax} requests are delayed by Sandbox-Simulate already. Nothing was done. Try again when some have ended.`,
        retrySeconds,
      );
    }
    const { raw } = exchange.reply;
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        raw.off('close', end);
        delayed.delete(end);
        // The credential can have been revoked meanwhile.
        exchange.isCredentialOld = true;
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      raw.once('close', end);
      delayed.add(end);
    });
  }

  return {
    /** @throws AppError badRequest for an invalid header; the simulated error; unavailable if too many requests are delayed */
    begin(exchange: Exchange, header: string): MaybePromise<void> {
      // Callers without a credential could use up the delayed requests.
      if (exchange.principal === null) {
        return;
      }
      const { delayMs, failure } = parseSimulation(header);
      for (const one of [delayMs > 0 ? 'slow' : null, failure]) {
        if (one !== null) {
          counts[one] = (counts[one] ?? 0) + 1;
        }
      }
      exchange.reply.header('X-Simulated', 'true');
      return chain(delay(exchange, delayMs), () => {
        const simulation = simulationOf(exchange, failure);
        exchange.simulation = simulation;
        if (simulation.error !== null) {
          throw simulation.error;
        }
      });
    },
    gauges: [
      counter('curd_simulated_total', 'Faults that requests asked for with Sandbox-Simulate.', () =>
        byLabel('failure', counts),
      ),
    ],
    async stop() {
      isStopped = true;
      for (const end of delayed) {
        end();
      }
    },
  };
}

function simulationOf(exchange: Exchange, failure: RequestedSimulation['failure']): Simulation {
  const { request, reply } = exchange;
  switch (failure) {
    case null:
      return { error: null, replaceResponse: null };
    case 'truncate':
      truncateResponse(request, reply);
      return { error: null, replaceResponse: null };
    case 'drop-before':
      return {
        error: unavailable(`The connection is closed. ${did}`, retrySeconds),
        replaceResponse: () => closeConnection(request, reply),
      };
    case 'drop-after':
      return { error: null, replaceResponse: () => closeConnection(request, reply) };
    case 'reset':
      return { error: null, replaceResponse: () => resetConnection(request, reply) };
    default:
      return { error: errorOf(failure, exchange.route.access), replaceResponse: null };
  }
}

/** The error of a status, with the details from which its usual headers and body are made. */
function errorOf(status: SimulatedStatus, access: Access): AppError {
  const retry = { details: { retryAfterMs: retrySeconds * 1000 } };
  const message = `Simulated ${status}. ${did}`;
  switch (status) {
    case 401:
      return new AppError('unauthorized', message, { details: { credential: 'invalid' } });
    case 403:
      return new AppError('forbidden', message, { details: { scopes: scopesOf(access) } });
    case 404:
      return new AppError('notFound', message);
    case 409:
      return new AppError('conflict', message);
    case 412:
      return new AppError('preconditionFailed', message);
    case 413:
      return new AppError('payloadTooLarge', message);
    case 415:
      return new AppError('unsupportedMediaType', message, { details: { accepts: ['application/json'] } });
    case 422:
      return validationError([{ field: '', message: `the body is refused, simulated. ${did}` }]);
    case 429:
      return new AppError('rateLimited', message, retry);
    case 500:
      return new AppError('internal', message);
    case 502:
      return new AppError('badGateway', message);
    case 503:
      return new AppError('unavailable', message, retry);
    case 504:
      return new AppError('gatewayTimeout', message);
  }
}

function scopesOf(access: Access): string[] {
  return typeof access === 'string'
    ? []
    : access.flatMap((requirement) => (requirement.kind === 'oauth' ? [requirement.scope] : []));
}
