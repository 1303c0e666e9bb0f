/** Events of accounts, API keys, OAuth clients, approvals and webhook endpoints. */
import type { KeyService } from '../../auth/keys/service.ts';
import type { ClientService } from '../../auth/oauth/clients.ts';
import type { ScopeApprovals } from '../../auth/oauth/scope-approvals.ts';
import type { Clock } from '../../clock.ts';
import type { EndpointService } from '../../webhooks/service.ts';
import { changing, making, randomText, type Trigger, type TriggerRequest, type Triggers } from './trigger.ts';

interface Dependencies {
  readonly clock: Clock;
  readonly config: { readonly plans: Readonly<Record<string, unknown>> };
  readonly keys: KeyService;
  readonly clients: ClientService;
  readonly approvals: ScopeApprovals;
  readonly endpoints: EndpointService;
}

const overlapMs = 60 * 60_000;

/** What a trigger makes belongs to a new account, because accounts can have few keys and endpoints. */
export function accessTriggers(dependencies: Dependencies): Triggers {
  const { clock, config, keys } = dependencies;
  const makeAccount = async ({ context }: TriggerRequest): Promise<number> => {
    const name = `test-${randomText(clock, 6)}`;
    return (await keys.createAccount(context, name)).id;
  };
  const makeKey = async (request: TriggerRequest): Promise<number> =>
    (await keys.create(request.context, await makeAccount(request), {})).id;

  async function changePlan({ context }: TriggerRequest, id: number): Promise<void> {
    const account = await keys.findAccountById(id);
    const plans = Object.keys(config.plans);
    const next = plans[(plans.indexOf(account?.plan ?? '') + 1) % plans.length] as string;
    await keys.setPlan(context, id, next);
  }

  return {
    'api_key.created': making('api_key', makeKey),
    'api_key.renamed': changing('api_key', makeKey, ({ context }, id) =>
      keys.rename(context, id, `Renamed ${randomText(clock, 3)}`),
    ),
    'api_key.rotated': changing('api_key', makeKey, ({ context }, id) =>
      keys.rotate(context, id, overlapMs, { makeAdmin: true }),
    ),
    'api_key.revoked': changing('api_key', makeKey, ({ context }, id) => keys.revoke(context, id)),
    'account.created': making('account', makeAccount),
    'account.plan_changed': changing('account', makeAccount, changePlan),
    ...clientTriggers(dependencies, makeAccount),
    ...endpointTriggers(dependencies, makeAccount),
  };
}

function clientTriggers(
  { clients, approvals }: Dependencies,
  makeAccount: (request: TriggerRequest) => Promise<number>,
): Triggers {
  async function makeClient(request: TriggerRequest): Promise<string> {
    const accountId = await makeAccount(request);
    const client = { name: 'Test application', accountId, scopes: ['admin'], redirectUris: [] } as const;
    return (await clients.create(request.context, client)).clientId;
  }
  const makeApproval = async (request: TriggerRequest): Promise<number> =>
    (await approvals.request(await makeClient(request), null)).id;
  async function makeApproved(request: TriggerRequest): Promise<number> {
    const id = await makeApproval(request);
    await approvals.approve(request.context, id, request.principal);
    return id;
  }
  const deletion: Trigger = {
    kind: 'oauth_client',
    async run(request, given) {
      const clientId = given ?? (await makeClient(request));
      await clients.delete(request.context, clientId);
      return `oauth_client:${clientId}`;
    },
  };
  return {
    'oauth_client.created': making('oauth_client', makeClient),
    'oauth_client.deleted': deletion,
    'approval.requested': making('approval', makeApproval),
    'approval.approved': changing('approval', makeApproval, ({ context, principal }, id) =>
      approvals.approve(context, id, principal),
    ),
    'approval.denied': changing('approval', makeApproval, ({ context, principal }, id) =>
      approvals.deny(context, id, principal),
    ),
    'approval.revoked': changing('approval', makeApproved, ({ context, principal }, id) =>
      approvals.revoke(context, id, principal),
    ),
  };
}

function endpointTriggers(
  { clock, endpoints }: Dependencies,
  makeAccount: (request: TriggerRequest) => Promise<number>,
): Triggers {
  const kind = 'webhook_endpoint';
  /** No host has this name (RFC 2606), and this type is the rarest: nothing is sent. */
  async function makeEndpoint(request: TriggerRequest): Promise<number> {
    const input = { url: 'https://test.invalid/', types: ['shop.reset'], since: 'latest' };
    return (await endpoints.create(request.context, await makeAccount(request), input)).id;
  }
  return {
    'webhook_endpoint.created': making(kind, makeEndpoint),
    'webhook_endpoint.updated': changing(kind, makeEndpoint, ({ context }, id) =>
      endpoints.update(context, id, { description: `Changed by trigger ${randomText(clock, 3)}` }),
    ),
    'webhook_endpoint.deleted': changing(kind, makeEndpoint, ({ context }, id) =>
      endpoints.delete(context, id),
    ),
    'webhook_endpoint.disabled': changing(kind, makeEndpoint, ({ context }, id) =>
      endpoints.disable(context, id),
    ),
  };
}
