import { scopes } from '../auth/access.ts';
import type { CreatedKey } from '../auth/keys/service.ts';
import { parseDuration } from '../duration.ts';
import { ConfigError } from '../settings/parsers.ts';
import {
  type CommandOptions,
  formatTable,
  parseChoice,
  parseId,
  parseOptionalChoice,
  printResult,
  printSecret,
  splitList,
  withServices,
} from './run-command.ts';

/** Makes a key and prints it, this once. */
export function createKey(options: CommandOptions): Promise<void> {
  return withServices(options, async ({ keys, contextOf }) => {
    const account = await keys.findAccount(String(options.account));
    const created = await keys.create(contextOf('cli'), account.id, {
      type: parseOptionalChoice('--type', options.type, ['live', 'test']),
      scopes: splitList(options.scope).map((scope) => parseChoice('--scope', scope, scopes)),
      lifetimeMs: options.expiresIn === undefined ? undefined : lifetime(options.expiresIn),
    });
    printNew(options, created);
  });
}

export function listKeys(options: CommandOptions): Promise<void> {
  return withServices(options, async ({ keys }) => {
    const account = await keys.findAccount(String(options.account));
    const items = await keys.list(account.id);
    const rows = items.map((key) => [
      String(key.id),
      `sk_${key.type}_...${key.last4}`,
      key.scopes.join(' ') || '-',
      key.createdAt,
      key.expiresAt ?? 'never',
      key.lastUsedAt ?? 'never',
    ]);
    printResult(
      options,
      items,
      formatTable(['id', 'key', 'scopes', 'created', 'expires', 'last used'], rows),
    );
  });
}

/** Makes a key in place of another, and prints it, this once. */
export function rotateKey(id: string, options: CommandOptions): Promise<void> {
  return withServices(options, async ({ keys, contextOf }) => {
    const overlapMs = duration('--overlap', options.overlap);
    printNew(options, await keys.rotate(contextOf('cli'), keyId(id), overlapMs, { makeAdmin: true }));
  });
}

export function revokeKey(id: string, options: CommandOptions): Promise<void> {
  return withServices(options, async ({ keys, contextOf }) => {
    await keys.revoke(contextOf('cli'), keyId(id));
    printResult(options, { id: keyId(id), revoked: true }, `Key ${id} is refused from the next request on.`);
  });
}

function printNew(options: CommandOptions, { id, key, type, last4, expiresAt }: CreatedKey): void {
  const until = expiresAt === null ? '' : `, until ${expiresAt}`;
  printSecret(
    options,
    key,
    { id, key, type, last4, expiresAt },
    `This is key ${id}${until}. Keep it: it is not shown again.`,
  );
}

function duration(flag: string, text: unknown): number {
  const milliseconds = parseDuration(String(text));
  if (milliseconds === null) {
    throw new ConfigError(`${flag} is "${text}": write a whole number and a unit, such as 15m, 24h or 90d.`);
  }
  return milliseconds;
}

function lifetime(text: unknown): number {
  const milliseconds = duration('--expires-in', text);
  if (milliseconds === 0) {
    throw new ConfigError('--expires-in is 0: such a key would never work.');
  }
  return milliseconds;
}

function keyId(text: string): number {
  return parseId(text, 'no key id: "curd keys list" shows them');
}
