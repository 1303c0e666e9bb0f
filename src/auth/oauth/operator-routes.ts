/** Routes of OAuth clients and approvals, for operators. The command line has the same verbs. */
import { anyOf, oauth } from '../../access/access.ts';
import { parsePathId } from '../../http/pipeline/path-id.ts';
import {
  badRequestResponse,
  conflictResponse,
  notFoundResponse,
  unprocessableResponse,
} from '../../http/responses/error-responses.ts';
import { uncached } from '../../http/responses/response.ts';
import { type Route, route } from '../../http/route.ts';
import type { KeyService } from '../keys/service.ts';
import type { Client, ClientService } from './clients.ts';
import {
  ApprovalDetails,
  ApprovalList,
  NewOauthClient,
  OauthClientInput,
  OauthClientList,
  statusText,
} from './operator-schemas.ts';
import type { ScopeApprovals } from './scope-approvals.ts';

const tag = 'Administration';
const access = anyOf(oauth('admin'));

interface Dependencies {
  readonly clients: ClientService;
  readonly approvals: ScopeApprovals;
  readonly keys: Pick<KeyService, 'findAccount'>;
}

export function oauthOperatorRoutes({ clients, approvals, keys }: Dependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/oauth-clients',
      operationId: 'listOauthClients',
      tag,
      summary: 'List the OAuth clients',
      description: 'All clients of all accounts, in the order of their registration.',
      access,
      responses: { 200: { description: 'All clients, without their secrets', schema: OauthClientList } },
      handle: async () => {
        const items = (await clients.list()).map(shownClient);
        return uncached(200, { items });
      },
    }),
    route({
      method: 'POST',
      dryRun: 'none',
      path: '/oauth-clients',
      operationId: 'createOauthClient',
      tag,
      summary: 'Register an OAuth client',
      description:
        'Only this response contains the secret. Only the command line registers a client that may request the scope `admin`.',
      access,
      body: OauthClientInput,
      responses: {
        201: { description: 'The client, with its secret', schema: NewOauthClient },
        ...notFoundResponse('There is no such account'),
        ...unprocessableResponse,
      },
      handle: async ({ body, withIdempotency }) => {
        const {
          native: isNative = false,
          public: isPublic = false,
          redirectUris = [],
          account,
          ...rest
        } = body;
        const request = { ...rest, redirectUris };
        const { id: accountId } = await keys.findAccount(account);
        return withIdempotency(
          (context) => clients.create(context, { ...request, accountId, isNative, isPublic }),
          ({ clientId, clientSecret, ...created }) =>
            uncached(201, {
              clientId,
              name: request.name,
              account,
              scopes: [...new Set(request.scopes)],
              grants: created.grants,
              redirectUris: request.redirectUris,
              native: isNative,
              public: isPublic,
              builtIn: false,
              createdAt: created.createdAt,
              clientSecret,
            }),
        );
      },
    }),
    route({
      method: 'DELETE',
      path: '/oauth-clients/:clientId',
      operationId: 'deleteOauthClient',
      examples: { clientId: '4f5d6c1e9a7b4c3d8e2f1a0b9c8d7e6f' },
      tag,
      summary: 'Delete an OAuth client',
      description: 'Its tokens and approvals end at once.',
      access,
      responses: {
        204: { description: 'The client was deleted' },
        ...notFoundResponse('There is no such client'),
        ...conflictResponse('The client is part of this server'),
      },
      handle: async ({ params, context }) => {
        await clients.delete(context, params.clientId ?? '');
        return { status: 204 };
      },
    }),
    route({
      method: 'GET',
      path: '/approvals',
      operationId: 'listApprovals',
      tag,
      summary: 'List requests for the scope admin',
      description:
        'A customer or a client that asks for the scope `admin` waits here for the decision of an operator.',
      access,
      query: { status: { ...statusText, description: 'Only requests in this status' } },
      responses: {
        200: { description: 'The requests, oldest first', schema: ApprovalList },
        ...badRequestResponse('A parameter is not valid'),
      },
      handle: async ({ query }) => {
        const items = (await approvals.list(query.status)).map((approval) => ({ ...approval }));
        return uncached(200, { items });
      },
    }),
    decisionRoute('approve', 'approveApproval', 'Approve a request', 'The approval ends after 90 days.'),
    decisionRoute('deny', 'denyApproval', 'Deny a request', 'An approval must be revoked instead.'),
    decisionRoute('revoke', 'revokeApproval', 'Revoke an approval', 'All tokens of the pair end at once.'),
  ];

  function decisionRoute(
    verb: 'approve' | 'deny' | 'revoke',
    operationId: string,
    summary: string,
    effect: string,
  ): Route {
    return route({
      method: 'POST',
      path: `/approvals/:approvalId/${verb}`,
      operationId,
      // Another request than that of the other examples, which is approved.
      ...(verb === 'deny' ? { examples: { approvalId: 2 } } : {}),
      tag,
      summary: `${summary} for the scope admin`,
      description: `${effect} An operator cannot decide on a request about themselves.`,
      access,
      responses: {
        200: { description: 'The request after the decision', schema: ApprovalDetails },
        ...notFoundResponse('There is no such request'),
        ...conflictResponse('The status of the request does not permit this, or the request is your own'),
      },
      handle: ({ principal, params, withIdempotency }) => {
        const id = parsePathId(params.approvalId, 'There is no such request.');
        return withIdempotency(
          (context) => approvals[verb](context, id, principal),
          (approval) => uncached(200, approval),
        );
      },
    });
  }
}

function shownClient({ isNative, isPublic, createdAt, ...client }: Client) {
  return { ...client, native: isNative, public: isPublic, createdAt };
}
