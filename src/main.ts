/** The executable: the tree of commands. What a command does is in the file of its name in cli/. */
import { Argument, Command } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { type CommandOptions, printFailure, withSettings } from './cli/run-command.ts';
import { nameHelp, styleHelp } from './cli/style.ts';

const program = new Command('curd')
  .description('The server of an online cheese shop.')
  .version(packageJson.version);
styleHelp(program);

const secretOutput =
  '\nThe secret is printed alone on standard output and everything else on standard error, so KEY=$(npx curd keys create ...) works.';

const collect = (value: string, previous: string[] = []) => [...previous, value];

withSettings(program.command('serve'))
  .description('start the server')
  .option('--allow-second-server', 'start even if another server has the SQLite database open')
  .addHelpText(
    'after',
    '\nThe first start in the environment local makes an account, prints an API key and fills a demo catalogue.',
  )
  .action(async (options: CommandOptions) => (await import('./cli/serve.ts')).serve(options));

const accounts = program.command('accounts').description('accounts, which own API keys');
withSettings(accounts.command('create <name>'))
  .description('create an account')
  .option(
    '--plan <plan>',
    'free, pro, enterprise or one of CURD_PLANS (default: enterprise in local, free elsewhere)',
  )
  .action(async (name, options) => (await import('./cli/accounts.ts')).createAccount(name, options));
withSettings(accounts.command('list'))
  .description('list the accounts')
  .action(async (options) => (await import('./cli/accounts.ts')).listAccounts(options));
withSettings(accounts.command('set-plan <name> <plan>'))
  .description(
    'move an account to another plan (free, pro, enterprise or one of CURD_PLANS), from the next request on',
  )
  .action(async (name, plan, options) => (await import('./cli/accounts.ts')).setPlan(name, plan, options));

const keys = program
  .command('keys')
  .description('API keys; what is changed here holds from the next request on');
withSettings(keys.command('create'))
  .description('create an API key and print it, this once')
  .addHelpText('after', secretOutput)
  .requiredOption('--account <name>', 'whose key it is')
  .option('--type <type>', 'live or test (default: live in production, test elsewhere)')
  .option('--scope <scopes>', 'what it may do beyond reading, separated by spaces: "write:cheeses admin"')
  .option('--expires-in <duration>', 'for example 90d (default: never)')
  .action(async (options) => (await import('./cli/keys.ts')).createKey(options));
withSettings(keys.command('list'))
  .description('list the active API keys of an account')
  .requiredOption('--account <name>', 'whose keys')
  .action(async (options) => (await import('./cli/keys.ts')).listKeys(options));
withSettings(keys.command('rotate <id>'))
  .description('create a key in place of another, which goes on working for the overlap')
  .addHelpText('after', secretOutput)
  .option('--overlap <duration>', 'how long the old key goes on working; 0s ends it at once', '24h')
  .action(async (id, options) => (await import('./cli/keys.ts')).rotateKey(id, options));
withSettings(keys.command('revoke <id>'))
  .description('end an API key at once')
  .action(async (id, options) => (await import('./cli/keys.ts')).revokeKey(id, options));

const clients = program
  .command('clients')
  .description('applications of partners, which get tokens by OAuth 2.0');
withSettings(clients.command('create <name>'))
  .description('register an application and print its secret, this once')
  .addHelpText(
    'after',
    `${secretOutput} A public application has no secret: its client id is printed instead.`,
  )
  .requiredOption('--account <name>', 'whose application it is, and whose plan counts')
  .requiredOption('--scope <scopes>', 'what it may ask for, separated by spaces: "read:cheeses read:orders"')
  .option('--redirect-uri <uri>', 'where people are sent back to; may stand several times', collect)
  .option('--native', 'it runs on a device: loopback redirects on any port, or a scheme of its own')
  .option(
    '--grant <grants>',
    'authorization_code, refresh_token, implicit, client_credentials (default: the first two with a redirect, else the last)',
  )
  .option('--public', 'it cannot keep a secret (a page, an app): none is made, and PKCE is required')
  .action(async (name, options) => (await import('./cli/clients.ts')).createClient(name, options));
withSettings(clients.command('list'))
  .description('list the applications')
  .action(async (options) => (await import('./cli/clients.ts')).listClients(options));
withSettings(clients.command('delete <clientId>'))
  .description('end an application with all its tokens')
  .action(async (clientId, options) => (await import('./cli/clients.ts')).deleteClient(clientId, options));

const approvals = program
  .command('approvals')
  .description('who may be granted the scope admin, and through which application');
withSettings(approvals.command('list'))
  .description('list who has asked')
  .action(async (options) => (await import('./cli/approvals.ts')).listApprovals(options));
for (const [verb, description] of [
  ['approve', 'grant a request, for 90 days'],
  ['deny', 'refuse a request'],
  ['revoke', 'take a grant back at once, tokens included'],
] as const) {
  withSettings(approvals.command(`${verb} <id>`))
    .description(description)
    .action(async (id, options) => (await import('./cli/approvals.ts')).decide(verb, id, options));
}

const customers = program.command('customers').description('customers of the shop');
withSettings(customers.command('set-role <username> <role>'))
  .description('make a customer staff, who may be granted more scopes, or customer again')
  .action(async (username, role, options) =>
    (await import('./cli/customers.ts')).setRole(username, role, options),
  );

const orders = program.command('orders').description('orders, moved on by hand');
for (const [verb, description] of [
  ['approve', 'approve an order that was placed, even one without prices'],
  ['ship', 'say that an approved order is on its way'],
  ['deliver', "say that a shipped order has arrived; it counts for the customer's tier"],
  ['cancel', 'cancel an order that has not shipped'],
] as const) {
  withSettings(orders.command(`${verb} <orderId>`))
    .description(description)
    .action(async (id, options) => (await import('./cli/orders.ts')).moveOrder(verb, id, options));
}

const importing = program.command('import').description('bring data in from files');
withSettings(importing.command('cheeses <file>'))
  .description(
    'import cheeses from a .csv, .json or .ndjson file; rows that are there already are left as they are',
  )
  .option(
    '--map <field=Column[,Other]>',
    'which columns hold a field, the first non-empty one counts; for tags all of them',
    collect,
  )
  .addHelpText(
    'after',
    '\nFields: name, category, photoUrls, tags, status, origin, pricePerKg, ageMonths, organic.\nExit status 2: some rows were refused; all others are in.',
  )
  .action(async (file, options) => (await import('./cli/import-cheeses.ts')).runImport(file, options));

const exporting = program.command('export').description('write data out to files');
withSettings(exporting.command('cheeses <file>'))
  .description('write all cheeses to a .csv, .json or .ndjson file, in a form that import reads')
  .action(async (file, options) => (await import('./cli/export-cheeses.ts')).runExport(file, options));

const images = program.command('images').description('images of cheeses');
withSettings(images.command('rebase'))
  .description('replace the URLs of uploaded images by those that follow from the settings')
  .addHelpText(
    'after',
    '\nAfter a change of CURD_PUBLIC_URL or CURD_IMAGES_URL: photoUrls keep the URL of the time of the upload. Other URLs in photoUrls stay.',
  )
  .action(async (options) => (await import('./cli/images.ts')).runRebase(options));

const environment = program
  .command('environment')
  .description('the environment of a shop, which its first start stores');
withSettings(environment.command('show'))
  .description('print the stored environment, whatever the settings are')
  .action(async (options) => (await import('./cli/environment.ts')).showEnvironment(options));
withSettings(environment.command('change <environment>'))
  .description('make a shop local, sandbox or production')
  .option('--dry-run', 'print what would be removed, and change nothing')
  .addHelpText(
    'after',
    '\nproduction removes the test orders and the demo cheeses that were not changed; everything else stays.\nStop the server first, and give the settings of the new environment.',
  )
  .action(async (name, options) => (await import('./cli/environment.ts')).changeEnvironment(name, options));

withSettings(program.command('migrate'))
  .description('bring the database to the schema of this version (serve does it as well)')
  .action(async (options) => (await import('./cli/migrate.ts')).runMigrate(options));

withSettings(program.command('doctor'))
  .description('look the shop over: settings, database, counters, orders, pictures; and say what to do')
  .option('--repair', 'file the catalogue anew first: postings and counters that follow from its cheeses')
  .addHelpText(
    'after',
    '\nExit status 2: something is wrong. The shop may be open meanwhile; with --repair, changes wait for it, and are refused if that takes longer than ten seconds.',
  )
  .action(async (options) => (await import('./cli/doctor.ts')).runDoctor(options));

withSettings(program.command('reset'))
  .description(
    'empty a local or sandbox shop but for its accounts, keys and applications, and fill the demo anew',
  )
  .option('--yes', 'yes, all of it')
  .action(async (options) => (await import('./cli/reset.ts')).runReset(options));

withSettings(program.command('backup <file>'))
  .description('write the shop on SQLite, images included, to one tar file, while it is open')
  .option('--keep <number>', 'remove all but the newest backups of this folder or name')
  .addHelpText(
    'after',
    '\n<file> is a file that does not exist yet; or a folder, which gets curd-{date}.tar; or a name with {date}, which stands for the time, such as backup/shop-{date}.tar. Only the last two take --keep.',
  )
  .action(async (file, options) => (await import('./cli/backup.ts')).runBackup(file, options));

withSettings(program.command('restore <file>'))
  .description('put the shop of a backup in the place of the one that is there')
  .addHelpText(
    'after',
    '\nStop the server first. The backup is checked before anything is changed, and the database that was there is kept beside the new one.',
  )
  .action(async (file, options) => (await import('./cli/restore.ts')).runRestore(file, options));

withSettings(program.command('copy'))
  .description('bring a shop to another database, and its pictures along: to PostgreSQL, or back')
  .option(
    '--from <database>',
    'the shop as it is: sqlite:<file> or postgres://... (default: the database of the settings)',
  )
  .requiredOption('--to <database>', 'where it shall be: postgres://... or sqlite:<file>')
  .option(
    '--from-images <place>',
    'its pictures: file:<folder> or s3://bucket/prefix (default: the folder beside an SQLite file, or the settings)',
  )
  .option('--to-images <place>', 'where they shall be (default: beside an SQLite file; elsewhere they stay)')
  .option('--overwrite', 'make a database the same that holds a shop already; what else is in it is lost')
  .addHelpText(
    'after',
    '\nCopies the shop as it is at one moment, compares every row afterwards, and goes on where it was interrupted if run again.\nKeys, sessions and tokens go on working. Exit status 2: all is copied but pictures that the source has lost.',
  )
  .action(async (options) => (await import('./cli/copy.ts')).runCopy(options));

program
  .command('openapi')
  .description('print the OpenAPI 3.1 document')
  .action(async () => (await import('./cli/openapi.ts')).printOpenapi());

program
  .command('completion')
  .description('print a script that completes commands and options in a shell')
  .addArgument(new Argument('<shell>', 'the shell that loads the script').choices(['bash', 'zsh', 'fish']))
  .addHelpText(
    'after',
    '\nbash: source <(npx curd completion bash)\nzsh:  source <(npx curd completion zsh), after compinit\nfish: npx curd completion fish | source\nIt completes the command "curd": "alias curd=\'npx curd\'" makes one.',
  )
  .action(async (shell) => (await import('./cli/completion.ts')).printCompletion(program, shell));

nameHelp(program);

try {
  await program.parseAsync();
} catch (error) {
  printFailure(error);
}
