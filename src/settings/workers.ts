import { availableParallelism } from 'node:os';
import { parseInteger } from './parsers.ts';

/** `auto` uses every processor, up to this number. */
const autoWorkersMax = 16;
const workersMax = 64;

/** How many server processes share the port. */
export function parseWorkers(text: string, name: string): number {
  return text === 'auto'
    ? Math.min(autoWorkersMax, availableParallelism())
    : parseInteger(1, workersMax)(text, name);
}
