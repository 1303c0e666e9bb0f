/** Checks the target of a webhook endpoint when it is registered. The sender checks it again at each connection. */
import { isIP } from 'node:net';
import { validationError } from '../../errors.ts';
import { findAddresses } from './host-lookup.ts';
import { hostOf, isPublicAddress, targetError, type WebhookTargets } from './sender.ts';

/** @throws AppError validation with what is wrong and what to do */
export async function requireTarget(url: string, targets: WebhookTargets): Promise<void> {
  const problem = targetError(url, targets) ?? (targets === 'any' ? null : await hostError(new URL(url)));
  if (problem !== null) {
    throw validationError([{ field: 'url', message: problem }]);
  }
}

async function hostError(url: URL): Promise<string | null> {
  const { hostname } = url;
  // targetError has checked literal IP addresses.
  if (isIP(hostOf(url)) !== 0) {
    return null;
  }
  const addresses = await findAddresses(hostname).catch(() => null);
  if (addresses === null) {
    return `names a host that cannot be resolved: ${hostname}. Check the name, or try again`;
  }
  return addresses.every(isPublicAddress)
    ? null
    : 'names a host in a private network. Use one with public IP addresses only; to permit private targets, an operator sets CURD_WEBHOOK_TARGETS=any';
}
