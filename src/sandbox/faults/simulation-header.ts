/** The header Sandbox-Simulate: the failure that a client asks for, to test what it does then. */
import { parseDuration } from '../../duration.ts';
import { parameterError } from '../../errors.ts';

export const simulatedStatuses = [401, 403, 404, 409, 412, 413, 415, 422, 429, 500, 502, 503, 504] as const;
export const connectionFailures = ['drop-before', 'drop-after', 'truncate', 'reset'] as const;
const delayMsMax = 30_000;

export type SimulatedStatus = (typeof simulatedStatuses)[number];
export type ConnectionFailure = (typeof connectionFailures)[number];

export interface RequestedSimulation {
  /** 0 without a delay. */
  readonly delayMs: number;
  /** Is one word, because a status has a response, and a connection fails in one way. */
  readonly failure: SimulatedStatus | ConnectionFailure | null;
}

/** @throws AppError badRequest */
export function parseSimulation(header: string): RequestedSimulation {
  let delayMs = 0;
  let failure: RequestedSimulation['failure'] = null;
  // Node joins the values of repeated headers with commas.
  for (const word of header.split(',').map((part) => part.trim().toLowerCase())) {
    const delay = parseDelay(word);
    const one = findFailure(word);
    if (delay !== null && delayMs === 0) {
      delayMs = delay;
    } else if (one !== null && failure === null) {
      failure = one;
    } else {
      throw parameterError('Sandbox-Simulate', `${problemOf(word, delay ?? one)} ${remedy}`);
    }
  }
  return { delayMs, failure };
}

/** Milliseconds, or null if the word is no valid delay. */
function parseDelay(word: string): number | null {
  const delay = word.startsWith('slow=') ? parseDuration(word.slice('slow='.length)) : null;
  return delay !== null && delay > 0 && delay <= delayMsMax ? delay : null;
}

function findFailure(word: string): SimulatedStatus | ConnectionFailure | null {
  const isOf = (one: SimulatedStatus | ConnectionFailure) => String(one) === word;
  return simulatedStatuses.find(isOf) ?? connectionFailures.find(isOf) ?? null;
}

function problemOf(word: string, known: unknown): string {
  if (known !== null) {
    return `"${word}" cannot follow the words before it.`;
  }
  return word === '' ? 'a word is missing.' : `"${word.slice(0, 40).toWellFormed()}" is not a known word.`;
}

const remedy = `Send one status (${simulatedStatuses.join(', ')}) or one of ${connectionFailures.join(', ')}; and slow=2s, at most slow=${delayMsMax / 1000}s, alone or before it, separated by a comma. Nothing was done.`;
