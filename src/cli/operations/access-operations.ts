/** Commands on accounts, API keys, applications and customers. */
import type { KeyKind } from '../../access/key-limits.ts';
import { keyPrefixes } from '../../auth/keys/format.ts';
import { commandName } from '../../command-name.ts';
import { type MoneyStyle, showPrice } from '../../schema/money-text.ts';
import type { OperationCommand, Result } from './operation.ts';

const joined = (name: string) => (item: Result) => item[name].join(' ') || null;

const noteColumns = { id: 'id', created: 'createdAt', author: 'author', text: 'text' };
const neverSee = 'Customers never see notes.';

const customerColumns = {
  id: 'customer.id',
  username: 'customer.username',
  'e-mail': 'customer.email',
  name: ({ customer }: Result) => `${customer.firstName} ${customer.lastName}`.trim() || null,
  tier: 'customer.customerStatus',
  role: 'role',
  delivered: ({ deliveredTotal }: Result, style: MoneyStyle) => showPrice(deliveredTotal, style),
};

export const accessOperations: readonly OperationCommand[] = [
  {
    name: 'accounts create',
    operation: 'createAccount',
    takes: ['name'],
    mayCreateShop: true,
    examples: ['accounts create shop --plan pro'],
    says: ({ name, plan }) =>
      `Account ${name} is created, on the plan ${plan}. Create a key for it: KEY=$(${commandName} keys create --account "${name}")`,
  },
  {
    name: 'accounts list',
    operation: 'listAccounts',
    examples: ['accounts list'],
    columns: { id: 'id', name: 'name', plan: 'plan' },
  },
  {
    name: 'accounts set-plan',
    operation: 'changeAccountPlan',
    takes: ['plan'],
    examples: ['accounts set-plan shop enterprise'],
    says: ({ name, plan }) => `Account ${name} has the plan ${plan} from its next request on.`,
  },
  {
    name: 'keys list',
    operation: 'listApiKeys',
    requires: ['account'],
    examples: ['keys list --account shop'],
    columns: {
      id: 'id',
      name: 'name',
      key: ({ key, kind, type, last4 }) => key ?? `${keyPrefixes[kind as KeyKind]}_${type}_...${last4}`,
      scopes: joined('scopes'),
      created: 'createdAt',
      expires: ({ expiresAt }) => expiresAt ?? 'never',
      'last used': ({ lastUsedAt }) => lastUsedAt ?? 'never',
    },
    none: 'The account has no active API keys.',
  },
  {
    name: 'keys rename',
    operation: 'renameApiKey',
    takes: ['name'],
    examples: ['keys rename 12 "warehouse scanner"'],
    says: ({ id, name }) => (name === null ? `Key ${id} has no name.` : `Key ${id} is named ${name}.`),
  },
  {
    name: 'keys revoke',
    operation: 'revokeApiKey',
    examples: ['keys revoke 12'],
    json: ({ keyId }) => ({ id: keyId, revoked: true }),
    says: (_, { keyId }) => `Key ${keyId} is refused from the next request on.`,
  },
  {
    name: 'clients list',
    operation: 'listOauthClients',
    examples: ['clients list'],
    columns: {
      'client id': 'clientId',
      name: 'name',
      account: 'account',
      scopes: joined('scopes'),
      grants: joined('grants'),
      redirects: joined('redirectUris'),
    },
    none: 'There are no clients.',
  },
  {
    name: 'clients delete',
    operation: 'deleteOauthClient',
    examples: ['clients delete 8f14e45fceea167a5a36dedd4bea2543'],
    json: ({ clientId }) => ({ clientId, deleted: true }),
    says: () => 'The application and all its tokens are deleted.',
  },
  {
    name: 'approvals list',
    operation: 'listApprovals',
    examples: ['approvals list --status pending'],
    columns: {
      id: 'id',
      status: 'status',
      application: 'clientName',
      customer: ({ username }) => username ?? '(the application itself)',
      requested: 'requestedAt',
      expires: 'expiresAt',
    },
    none: 'There are no such requests.',
  },
  {
    name: 'approvals approve',
    operation: 'approveApproval',
    examples: ['approvals approve 3'],
    says: ({ id }) => `Request ${id} is approved for 90 days.`,
  },
  {
    name: 'approvals deny',
    operation: 'denyApproval',
    examples: ['approvals deny 3'],
    says: ({ id }) => `Request ${id} is denied.`,
  },
  {
    name: 'approvals revoke',
    operation: 'revokeApproval',
    examples: ['approvals revoke 3'],
    says: ({ id }) => `Approval ${id} is revoked. Its tokens are refused from the next request on.`,
  },
  {
    name: 'customers list',
    operation: 'listCustomers',
    examples: ['customers list --search keller'],
    columns: customerColumns,
    none: 'There are no such customers.',
  },
  {
    name: 'customers show',
    operation: 'getCustomerById',
    examples: ['customers show ada'],
    columns: customerColumns,
  },
  {
    name: 'customers set-role',
    operation: 'changeCustomerRole',
    takes: ['role'],
    help: 'Customers who are staff may be granted more scopes.',
    examples: ['customers set-role ada staff'],
    json: ({ customerId: username }, { role }) => ({ username, role }),
    says: ({ role }, { customerId: username }) =>
      `${username} is ${role === 'staff' ? 'staff' : 'a customer'} from the next request on.`,
  },
  {
    name: 'customers reset-password',
    operation: 'createPasswordReset',
    help: 'The link works once, for 30 minutes. Send it to the customer. A newer link replaces it, and a new password ends all sessions and tokens.',
    examples: ['customers reset-password ada'],
    secret: ({ url }) => url,
    says: ({ expiresAt }, { customerId: username }) =>
      `Send this link to ${username}. It works once, until ${expiresAt}, and is not shown again.`,
  },
  {
    name: 'customers note',
    operation: 'createCustomerNote',
    takes: ['text'],
    help: `${neverSee} They are deleted with the customer.`,
    examples: ['customers note ada "Prefers young cheeses"'],
    says: ({ id }) => `The note is stored as ${id}.`,
  },
  {
    name: 'customers notes',
    operation: 'listCustomerNotes',
    help: neverSee,
    examples: ['customers notes ada'],
    columns: noteColumns,
    none: 'There are no notes.',
  },
  {
    name: 'orders note',
    operation: 'createOrderNote',
    takes: ['text'],
    help: neverSee,
    examples: ['orders note 3 "Ring twice"'],
    says: ({ id }) => `The note is stored as ${id}.`,
  },
  {
    name: 'orders notes',
    operation: 'listOrderNotes',
    help: neverSee,
    examples: ['orders notes 3'],
    columns: noteColumns,
    none: 'There are no notes.',
  },
];
