import type { CallOptions, Outcome, WriteOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
import type { Body, Query, Result } from '../types.ts';
import { Area } from './area.ts';

/** Accounts, which own API keys and OAuth clients. */
export class Accounts extends Area {
  /** Lists all accounts. */
  list(options?: CallOptions): ListOf<'listAccounts'> {
    return this.api.listAll('/v2/accounts', {}, options);
  }

  /** Creates an account. */
  create<Options extends WriteOptions>(
    account: Body<'createAccount'>,
    options?: Options,
  ): Promise<Outcome<Options, Result<'createAccount'>>> {
    return this.api.post('/v2/accounts', { body: account }, options);
  }

  /** Moves an account to another plan. */
  changePlan<Options extends WriteOptions>(
    accountId: number,
    plan: Body<'changeAccountPlan'>,
    options?: Options,
  ): Promise<Outcome<Options, Result<'changeAccountPlan'>>> {
    return this.api.post('/v2/accounts/{accountId}/plan', { path: { accountId }, body: plan }, options);
  }
}

/** OAuth clients. */
export class OauthClients extends Area {
  /** Lists all clients. */
  list(options?: CallOptions): ListOf<'listOauthClients'> {
    return this.api.listAll('/v2/oauth-clients', {}, options);
  }

  /** Registers a client. The response contains its secret once. */
  create(client: Body<'createOauthClient'>, options?: CallOptions): Promise<Result<'createOauthClient'>> {
    return this.api.post('/v2/oauth-clients', { body: client }, options);
  }

  /** Deletes a client with all its tokens. */
  delete<Options extends WriteOptions>(clientId: string, options?: Options): Promise<Outcome<Options, void>> {
    return this.api.delete('/v2/oauth-clients/{clientId}', { path: { clientId } }, options);
  }
}

/** Requests for the scope admin. */
export class Approvals extends Area {
  /** Lists requests, the oldest first. */
  list(filters?: Query<'listApprovals'>, options?: CallOptions): ListOf<'listApprovals'> {
    return this.api.listAll('/v2/approvals', { query: filters }, options);
  }

  /** Approves a request. */
  approve<Options extends WriteOptions>(
    approvalId: number,
    options?: Options,
  ): Promise<Outcome<Options, Result<'approveApproval'>>> {
    return this.api.post('/v2/approvals/{approvalId}/approve', { path: { approvalId } }, options);
  }

  /** Denies a request. */
  deny<Options extends WriteOptions>(
    approvalId: number,
    options?: Options,
  ): Promise<Outcome<Options, Result<'denyApproval'>>> {
    return this.api.post('/v2/approvals/{approvalId}/deny', { path: { approvalId } }, options);
  }

  /** Ends an approval and its tokens. */
  revoke<Options extends WriteOptions>(
    approvalId: number,
    options?: Options,
  ): Promise<Outcome<Options, Result<'revokeApproval'>>> {
    return this.api.post('/v2/approvals/{approvalId}/revoke', { path: { approvalId } }, options);
  }
}
