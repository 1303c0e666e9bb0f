/** The options of "curd seed". */
import { systemClock, timePattern } from '../../clock.ts';
import { ConfigError, type Parser, parseInteger } from '../../settings/parsers.ts';
import { option, requiredOption } from './options.ts';

const parsePastTime: Parser<number> = (text, name) => {
  const time = timePattern.test(text) ? Date.parse(text) : Number.NaN;
  if (!(time >= 0 && time <= systemClock.now())) {
    throw new ConfigError(`${name} is "${text}": set it to a past time such as 2026-01-15T09:00:00Z.`);
  }
  return time;
};

export const seedOptions = {
  customers: requiredOption('number', 'how many customers, 1 to 2000', parseInteger(1, 2_000), '200'),
  orders: requiredOption('number', 'how many orders, 0 to 10000', parseInteger(0, 10_000), '1000'),
  seed: requiredOption(
    'number',
    'another number gives other customers and orders',
    parseInteger(0, 2 ** 31 - 1),
    '7',
  ),
  until: option('time', 'end of the 90 days, RFC 3339 (default: the last full hour)', parsePastTime),
};
