/** Every command: its name, arguments, options, help and code, which is loaded when the command runs. */
import { commandName } from '../../command-name.ts';
import { environments, parseEnum } from '../../settings/parsers.ts';
import { type CommandDefinition, command } from '../framework/command-definition.ts';
import {
  backupOptions,
  changeEnvironmentOptions,
  consoleOptions,
  copyOptions,
  doctorOptions,
  resetOptions,
  restoreOptions,
  seedOptions,
  serveOptions,
} from '../framework/command-options.ts';
import { buildCommandTree } from '../framework/command-tree.ts';
import { argument, textArgument } from '../framework/options.ts';
import { operationCommands } from '../operations/operation-command.ts';
import { operationTable } from '../operations/table.ts';
import { eventCommands } from './event-commands.ts';
import { keyCommands } from './key-commands.ts';
import { mailCommands } from './mail-commands.ts';
import { shopCommands } from './shop-commands.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** Names that come before a subcommand. */
export const groups: Readonly<Record<string, string>> = {
  shop: 'what the shop is: its name, address and currency',
  accounts: 'accounts, which own API keys',
  keys: 'API keys; changes apply from the next request on',
  clients: 'applications of partners, which get tokens by OAuth 2.0',
  approvals: 'customers and applications that requested the scope admin',
  customers: 'customers of the shop',
  orders: 'orders: list them, and change their status',
  stock: 'kilograms of cheeses whose stock is tracked',
  import: 'import data from files',
  export: 'export data to files',
  images: 'images of cheeses',
  webhooks: 'URLs that get events of the shop',
  mail: 'mails to customers',
  events: 'the event log',
  demo: 'the demo catalogue of a new shop',
  requests: 'the request log: what happened to the requests of the last 24 hours',
  edge: 'caches in front of the shop',
  environment: 'the environment of a shop, which its first start stores',
  clock: 'the time of a shop for tests',
  snapshots: 'states of a shop to which tests go back',
};

const order = Object.keys(groups);
const placeOf = ({ name }: CommandDefinition) => order.indexOf(name.split(' ')[0] ?? '') + 1 || order.length;

const grouped = [
  ...keyCommands,
  ...operationCommands(operationTable),
  ...shopCommands,
  ...mailCommands,
  ...eventCommands,
].sort((one, other) => placeOf(one) - placeOf(other));

export const commands: readonly CommandDefinition[] = [
  command({
    name: 'serve',
    summary: 'start the server',
    help: 'In the environment local, the first start creates an account and a demo catalogue, and prints an API key.',
    examples: ['serve --port 8080 --data-dir /var/lib/curd'],
    options: serveOptions,
    load: async () => (await import('../server/serve.ts')).serve,
  }),
  command({
    name: 'console',
    summary: 'print a link that signs in to the console, the web page for operators',
    help: 'The link signs in once, within 15 minutes, with all scopes. Run it with the settings of the server.',
    examples: ['console --open'],
    options: consoleOptions,
    load: async () => (await import('./access/console.ts')).openConsole,
  }),
  ...grouped,
  command({
    name: 'environment show',
    summary: 'print the stored environment; the settings may be of another',
    examples: ['environment show'],
    load: async () => (await import('./database/environment.ts')).showEnvironment,
  }),
  command({
    name: 'environment change',
    summary: 'change the environment of a shop to local, sandbox or production',
    help: 'production removes the test orders, and the demo cheeses that were not changed; everything else stays.\nStop the server first, and give the settings of the new environment.',
    examples: ['environment change sandbox --dry-run'],
    arguments: [argument('environment', parseEnum(environments))],
    options: changeEnvironmentOptions,
    load: async () => (await import('./database/environment.ts')).changeEnvironment,
  }),
  command({
    name: 'migrate',
    summary: 'migrate the database to the schema of this version (serve does it as well)',
    examples: ['migrate'],
    load: async () => (await import('./database/migrate.ts')).runMigrate,
  }),
  command({
    name: 'doctor',
    summary: 'check settings, database, counters, orders and images, and print what to do',
    help: 'Exit status 2: a check failed. The server may run meanwhile; with --repair, changes wait for it and are refused after ten seconds.\nThe result is stored: GET /v2/integrity and the console show the last 30.',
    examples: ['doctor --repair'],
    options: doctorOptions,
    load: async () => (await import('./database/doctor.ts')).runDoctor,
  }),
  command({
    name: 'reset',
    summary:
      'delete everything of a local or sandbox shop except accounts, keys and applications, and restore the demo',
    examples: ['reset --yes'],
    options: resetOptions,
    load: async () => (await import('./database/reset.ts')).runReset,
  }),
  command({
    name: 'seed',
    summary: 'fill a local or sandbox shop without customers with invented customers and orders of 90 days',
    help: `The same --seed and --until give the same customers and orders in the same catalogue. All of them are added, or none; changes wait for it.\nThe customers have no known password: "${commandName} customers reset-password <username>" lets one of them log in.`,
    examples: ['seed --customers 20 --orders 100'],
    options: seedOptions,
    load: async () => (await import('./database/seed.ts')).runSeed,
  }),
  command({
    name: 'backup',
    summary: 'write a shop on SQLite, images included, to one tar file; the server may run meanwhile',
    help: '<file> is a new file; or a folder, where curd-{date}.tar is created; or a file name with {date}, which is replaced by the time, such as backup/shop-{date}.tar. --keep needs a folder or a name with {date}.',
    examples: ['backup backups/shop-{date}.tar --keep 7'],
    arguments: [textArgument('file')],
    options: backupOptions,
    load: async () => (await import('./database/backup.ts')).runBackup,
  }),
  command({
    name: 'restore',
    summary: 'replace the shop by the shop of a backup',
    help: 'Stop the server first. The backup is checked before anything is changed, and the previous database is kept beside the new one.\nWebhook endpoints are disabled and mails wait, because the other shop may still run. Ids continue 10,000 later (--id-gap), because ids that were given out after the backup are known to customers.',
    examples: ['restore backups/shop.tar'],
    arguments: [textArgument('file')],
    options: restoreOptions,
    load: async () => (await import('./database/restore.ts')).runRestore,
  }),
  command({
    name: 'copy',
    summary: 'copy a shop with its images to an empty database: to PostgreSQL, or back',
    help: 'Copies the state of one moment into an empty database. A copy that is interrupted leaves nothing but images: run it again.\nKeys, sessions and tokens stay valid. Exit status 2: everything is copied except images that are missing in the source.\nWebhook endpoints are disabled and mails wait in the copy, because the other shop may still run.',
    examples: ['copy --to postgres://curd@localhost/curd'],
    options: copyOptions,
    load: async () => (await import('./database/copy.ts')).runCopy,
  }),
  command({
    name: 'openapi',
    summary: 'print the OpenAPI 3.1 document',
    examples: ['openapi'],
    hasSettings: false,
    load: async () => (await import('./openapi.ts')).printOpenapi,
  }),
  command({
    name: 'completion',
    summary: 'print a script that completes commands and options in a shell',
    help: 'bash: source <(npx curd completion bash)\nzsh:  source <(npx curd completion zsh), after compinit\nfish: npx curd completion fish | source\nIt completes the command "curd". Define it with: alias curd=\'npx curd\'',
    examples: ['completion bash'],
    arguments: [{ ...argument('shell', parseEnum(shells)), choices: shells }],
    hasSettings: false,
    load: async () => {
      const { printCompletion } = await import('./completion.ts');
      return (shell) => printCompletion(buildCommandTree(commands, groups, true), shell);
    },
  }),
];
