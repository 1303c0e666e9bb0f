/** Settings for tests of integrations, which a production shop does not have. */
import { ConfigError, type Parser, parseEnum } from './parsers.ts';
import type { Setting, SettingContext } from './setting.ts';

/** A parser that accepts nothing but the default in production. */
export function outsideProduction<T>(
  inProduction: string,
  parse: Parser<T>,
): (text: string, name: string, context: SettingContext) => T {
  return (text, name, { environment }) => {
    const value = parse(text, name);
    if (environment === 'production' && text !== inProduction) {
      throw new ConfigError(
        `${name} is "${text}": that is for tests in local and sandbox shops. A production shop has ${inProduction}: remove the setting.`,
      );
    }
    return value;
  };
}

export const parseClockMode = outsideProduction(
  'system',
  parseEnum(['system', 'movable']),
) satisfies Setting['parse'];
