/** Commands on orders, stock, the demo catalogue and mails. */
import { AppError } from '../../errors.ts';
import { type MoneyStyle, showPrice } from '../../schema/money-text.ts';
import { pluralize } from '../framework/output.ts';
import type { OperationCommand, ReadOperation, Result, Values } from './operation.ts';

export const shownOrderColumns = {
  id: 'id',
  status: 'status',
  total: ({ total }: Result, style: MoneyStyle) => showPrice(total, style),
  created: 'createdAt',
  ships: 'shipDate',
};

const orderText = ({ id, status }: Result) => `Order ${id} is ${status}.`;

function stockText({ onHand, reserved, available, lowAt }: Result, { cheeseId }: Values): string {
  const warning = lowAt === null ? '' : `, low at ${lowAt} kg`;
  return `Cheese ${cheeseId}: ${onHand} kg on hand, ${reserved} kg reserved, ${available} kg available${warning}.`;
}

const stockJson = ({ cheeseId }: Values, stock: Result) => ({ cheeseId, ...stock });

/**
 * The API replaces the stock: without --low-at, the warning of a tracked cheese would be removed. The ETag of what was read
 * keeps a warning that somebody changes at the same time.
 */
async function keepLowAt(values: Values, read: ReadOperation): Promise<Values> {
  if (values.lowAt !== undefined) {
    return values;
  }
  try {
    const { body, etag } = await read('getCheeseStock', { cheeseId: values.cheeseId });
    return { ...values, lowAt: body.lowAt, 'If-Match': etag };
  } catch (error) {
    if (error instanceof AppError && error.code === 'notFound') {
      return values;
    }
    throw error;
  }
}

function demoText({ removed, kept }: Result): string {
  return [
    removed.length === 0
      ? 'The shop has no demo cheeses that were not changed and never ordered.'
      : `Removed ${pluralize(removed.length, 'demo cheese')}: ${removed.join(', ')}.`,
    ...(kept.length === 0 ? [] : [`Kept, because they were ordered: ${kept.join(', ')}.`]),
  ].join('\n');
}

export const shopOperations: readonly OperationCommand[] = [
  { name: 'shop show', operation: 'getShop', examples: ['shop show'] },
  {
    name: 'shop change',
    operation: 'patchShop',
    help: 'What is not given stays, and none removes. The currency can change until the first order.',
    examples: [
      'shop change --currency EUR --time-zone Europe/Vienna --language de-AT',
      'shop change --address-street "Gerechtigkeitsgasse 1" --address-zip-code 3011 --address-city Bern --address-country CH',
    ],
  },
  {
    name: 'orders list',
    operation: 'listOrders',
    examples: ['orders list --status placed,approved --country CH'],
    prepare: ({ country, ...values }) => ({ ...values, country: country?.toUpperCase() }),
    columns: shownOrderColumns,
    none: 'There are no such orders.',
  },
  {
    name: 'orders approve',
    operation: 'approveOrder',
    help: 'Approves orders without prices as well.',
    examples: ['orders approve 3'],
    says: orderText,
  },
  {
    name: 'orders ship',
    operation: 'shipOrder',
    examples: ['orders ship 3 --carrier "Swiss Post" --tracking-number 99.00.123456'],
    says: orderText,
  },
  {
    name: 'orders track',
    operation: 'replaceOrderShipment',
    help: 'What is not given is removed. Possible until the order is delivered.',
    examples: ['orders track 3 --carrier Courier'],
    says: (_, { orderId }) => `The shipment of order ${orderId} is changed.`,
  },
  {
    name: 'orders deliver',
    operation: 'deliverOrder',
    help: "A delivered order counts for the customer's tier.",
    examples: ['orders deliver 3'],
    says: orderText,
  },
  {
    name: 'orders cancel',
    operation: 'cancelOrder',
    help: 'Possible until the order has shipped.',
    examples: ['orders cancel 3 --dry-run'],
    json: ({ orderId: id }) => ({ id, status: 'cancelled' }),
    says: (_, { orderId }) => `Order ${orderId} is cancelled.`,
  },
  {
    name: 'stock list',
    operation: 'listStock',
    limit: 'all',
    printsItemsOnly: true,
    examples: ['stock list --low'],
    prepare: (values) => (values.low ? { ...values, sort: values.sort ?? 'level' } : values),
    columns: {
      id: 'cheeseId',
      name: 'cheeseName',
      status: 'status',
      'on hand': 'onHand',
      reserved: 'reserved',
      available: 'available',
      'low at': 'lowAt',
    },
    none: 'There is no such stock. Only the stock of tracked cheeses is listed.',
  },
  {
    name: 'stock set',
    operation: 'replaceCheeseStock',
    takes: ['onHand'],
    help: 'Count what lies in the storeroom, including what is promised to orders that have not shipped. Without --low-at, the warning stays as it is; with --low-at none, there is none.',
    examples: ['stock set 12 50 --low-at 10', 'stock set 12 6.4'],
    prepare: keepLowAt,
    json: stockJson,
    says: stockText,
  },
  {
    name: 'stock adjust',
    operation: 'adjustCheeseStock',
    takes: ['deltaKg'],
    examples: ['stock adjust 12 20 --reason received', 'stock adjust 12 -5 --reason spoiled'],
    json: stockJson,
    says: stockText,
  },
  {
    name: 'stock untrack',
    operation: 'deleteCheeseStock',
    help: 'The cheese is sold without limit from then on.',
    examples: ['stock untrack 12'],
    json: ({ cheeseId }) => ({ cheeseId, tracked: false }),
    says: (_, { cheeseId }) => `The stock of cheese ${cheeseId} is not tracked any more.`,
  },
  { name: 'demo remove', operation: 'deleteDemo', examples: ['demo remove --dry-run'], says: demoText },
  {
    name: 'mail list',
    operation: 'listMails',
    examples: ['mail list --state failed'],
    columns: {
      id: 'id',
      mail: 'mail',
      state: 'state',
      order: 'orderId',
      attempts: 'attempts',
      created: 'createdAt',
      sent: 'sentAt',
      reason: 'reason',
    },
    none: 'There are no such mails.',
  },
  {
    name: 'mail retry',
    operation: 'retryMail',
    examples: ['mail retry 7'],
    says: ({ id }) => `Mail ${id} is sent at once by a running server.`,
  },
];
