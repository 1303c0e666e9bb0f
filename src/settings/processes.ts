import { availableParallelism } from 'node:os';
import { parseInteger } from './parsers.ts';

/** `auto` uses every processor, up to this number. */
const autoProcessesMax = 16;
const processesMax = 64;

/** How many server processes share the port. */
export function parseProcesses(text: string, name: string): number {
  return text === 'auto'
    ? Math.min(autoProcessesMax, availableParallelism())
    : parseInteger(1, processesMax)(text, name);
}
