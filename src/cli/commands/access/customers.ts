import type { Role } from '../../../auth/oauth/customer-directory.ts';
import { resetUrl } from '../../../customers/login/reset-token.ts';
import { publicBaseUrl } from '../../../settings/urls.ts';
import { type ChangeOptions, makeChange } from '../../framework/change.ts';
import type { listCustomersOptions } from '../../framework/command-options.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { formatTable, printResult, printSecret } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';

/** Makes a customer staff, or customer again. */
export function setRole(username: string, role: Role, options: ChangeOptions): Promise<void> {
  return makeChange(options, async ({ customers: { administration: customerAdministration } }, context) => {
    const id = await customerAdministration.idOf(username);
    await customerAdministration.changeRole(context, id, role);
    const roleText = { customer: 'a customer', staff: 'staff' }[role];
    return { value: { username, role }, text: `${username} is ${roleText} from the next request on.` };
  });
}

/** How many rows a list prints. */
const listedMax = 100;

interface Item {
  readonly customer: {
    readonly id: number;
    readonly username: string;
    readonly email: string;
    readonly firstName: string;
    readonly lastName: string;
    readonly customerStatus: string;
  };
  readonly role: string;
  readonly deliveredTotal: number;
}

const columns = ['id', 'username', 'e-mail', 'name', 'tier', 'role', 'delivered'];
const cellsOf = ({ customer, role, deliveredTotal }: Item): string[] => [
  String(customer.id),
  customer.username,
  customer.email,
  `${customer.firstName} ${customer.lastName}`.trim() || '-',
  customer.customerStatus,
  role,
  deliveredTotal.toFixed(2),
];

/** Prints up to 100 customers. */
export function listCustomers(options: OptionsOf<typeof listCustomersOptions>): Promise<void> {
  return withShop(options, async ({ customers: { search: customerSearch } }) => {
    const page = await customerSearch.list({ q: options.search, limit: listedMax });
    const items = page.items.map((item) => JSON.parse(item) as Item);
    const more = page.hasMore ? '\nThere are more: search for a longer text with --search.' : '';
    const { hasMore } = page;
    printResult(
      options,
      { items, hasMore },
      formatTable(columns, items.map(cellsOf), 'There are no such customers.') + more,
    );
  });
}

export function showCustomer(username: string, options: CommandOptions): Promise<void> {
  return withShop(
    options,
    async ({ customers: { administration: customerAdministration, search: customerSearch } }) => {
      const id = await customerAdministration.idOf(username);
      const item = JSON.parse(await customerSearch.find(id)) as Item;
      printResult(options, item, formatTable(columns, [cellsOf(item)]));
    },
  );
}

/** Prints a link with which the customer sets a new password. */
export function resetPassword(username: string, options: CommandOptions): Promise<void> {
  return withShop(
    options,
    async ({ config, customers: { administration: customerAdministration }, contextOf }) => {
      const id = await customerAdministration.idOf(username);
      const { token, expiresAt } = await customerAdministration.createReset(contextOf('cli'), id);
      const url = resetUrl(new URL(publicBaseUrl(config)).origin, token);
      printSecret(
        options,
        url,
        { url, expiresAt },
        `Send this link to ${username}. It works once, until ${expiresAt}, and is not shown again.`,
      );
    },
  );
}
