import type { Role } from '../../../auth/oauth/customer-directory.ts';
import { resetUrl } from '../../../customers/login/reset-token.ts';
import { publicBaseUrl } from '../../../settings/urls.ts';
import type { listCustomersOptions } from '../../framework/access-options.ts';
import { type ChangeOptions, makeChange } from '../../framework/change.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { type Columns, formatTable, printResult, printSecret } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';

/** Makes a customer staff, or customer again. */
export function setRole(username: string, role: Role, options: ChangeOptions): Promise<void> {
  return makeChange(options, async ({ customers: { administration } }, context) => {
    const id = await administration.idOf(username);
    await administration.changeRole(context, id, role);
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

const columns: Columns<Item> = {
  id: ({ customer }) => customer.id,
  username: ({ customer }) => customer.username,
  'e-mail': ({ customer }) => customer.email,
  name: ({ customer }) => `${customer.firstName} ${customer.lastName}`.trim() || '-',
  tier: ({ customer }) => customer.customerStatus,
  role: ({ role }) => role,
  delivered: ({ deliveredTotal }) => deliveredTotal.toFixed(2),
};

/** Prints up to 100 customers. */
export function listCustomers(options: OptionsOf<typeof listCustomersOptions>): Promise<void> {
  return withShop(options, async ({ customers: { search } }) => {
    const page = await search.list({ q: options.search, limit: listedMax });
    const items = page.items.map((item) => JSON.parse(item) as Item);
    const more = page.hasMore ? '\nThere are more: search for a longer text with --search.' : '';
    printResult(
      options,
      { items, hasMore: page.hasMore },
      formatTable(columns, items, 'There are no such customers.') + more,
    );
  });
}

export function showCustomer(username: string, options: CommandOptions): Promise<void> {
  return withShop(options, async ({ customers: { administration, search } }) => {
    const id = await administration.idOf(username);
    const item = JSON.parse(await search.find(id)) as Item;
    printResult(options, item, formatTable(columns, [item]));
  });
}

/** Prints a link with which the customer sets a new password. */
export function resetPassword(username: string, options: CommandOptions): Promise<void> {
  return withShop(options, async ({ config, customers: { administration }, contextOf }) => {
    const id = await administration.idOf(username);
    const { token, expiresAt } = await administration.createReset(contextOf('cli'), id);
    const url = resetUrl(new URL(publicBaseUrl(config)).origin, token);
    printSecret(
      options,
      url,
      { url, expiresAt },
      `Send this link to ${username}. It works once, until ${expiresAt}, and is not shown again.`,
    );
  });
}
