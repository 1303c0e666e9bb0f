/** The tables that stay as they are when a shop is reset or restored from a snapshot. */

/** What both keep: accounts and their keys, applications, quotas, what the shop is, and the snapshots themselves. */
const keptAlways = [
  'migration',
  'shop',
  'account',
  'api_key',
  'oauth_client',
  'quota',
  'event_epoch',
  'edge_purger',
  'instance',
  'mail_reader',
  'image_file_pin',
  'snapshot',
  'test_state',
];

/** A reset changes rows of the others in this list, which an empty shop needs as well. */
const keptByReset = new Set([
  ...keptAlways,
  ...[
    'webhook_endpoint',
    'catalogue',
    'term',
    'image_file',
    'event_log',
    'stock_count',
    'shop_profile',
    'delivery_method',
    'tax_rate',
  ],
]);

/**
 * Grants and approvals of customers who are not in the snapshot are deleted, though. Failed logins are limits of requests
 * too. The counts are made again, the log continues, the clock is set, and files of images are marked as unused.
 */
const keptByRestore = new Set([
  ...keptAlways,
  ...['oauth_object', 'admin_approval', 'login_failure', 'doctor_run'],
  ...['event_log', 'image_file', 'order_count', 'order_count_change', 'stock_count'],
]);

/** Tables that no reset and no restore writes, so that requests need not wait for their rows. */
const untouched = new Set([
  ...keptAlways.filter((name) => !['event_epoch', 'mail_reader', 'test_state'].includes(name)),
  'login_failure',
  'doctor_run',
]);

interface Named {
  readonly name: string;
}

export const isEmptiedByReset = ({ name }: Named) => !keptByReset.has(name);
export const isInSnapshot = ({ name }: Named) => !keptByRestore.has(name) || name === 'image_file';
export const isReplacedByRestore = ({ name }: Named) => !keptByRestore.has(name);
export const isLockedMeanwhile = ({ name }: Named) => !untouched.has(name);
