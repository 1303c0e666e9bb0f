import { type ChangeOptions, makeChange } from '../../framework/change.ts';
import type { CommandOptions } from '../../framework/options.ts';
import { printTable } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';

export function listApprovals(options: CommandOptions): Promise<void> {
  return withShop(options, async ({ oauth: { approvals } }) => {
    printTable(
      options,
      await approvals.list(),
      {
        id: ({ id }) => id,
        status: ({ status }) => status,
        application: ({ clientName }) => clientName,
        customer: ({ username }) => username ?? '(the application itself)',
        requested: ({ requestedAt }) => requestedAt,
        expires: ({ expiresAt }) => expiresAt,
      },
      'There are no such requests.',
    );
  });
}

/** Approves or denies a request for the scope admin, or revokes an approval. */
export function decide(
  verb: 'approve' | 'deny' | 'revoke',
  id: number,
  options: ChangeOptions,
): Promise<void> {
  return makeChange(options, async ({ oauth: { approvals } }, context) => {
    const approval = await approvals[verb](context, id);
    const text = {
      approve: `Request ${id} is approved for 90 days.`,
      deny: `Request ${id} is denied.`,
      revoke: `Approval ${id} is revoked. Its tokens are refused from the next request on.`,
    };
    return { value: approval, text: text[verb] };
  });
}
