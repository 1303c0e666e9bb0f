import { type CommandOptions, formatTable, parseId, printResult, withServices } from './run-command.ts';

export function listApprovals(options: CommandOptions): Promise<void> {
  return withServices(options, async ({ approvals }) => {
    const items = await approvals.list();
    const rows = items.map((approval) => [
      String(approval.id),
      approval.status,
      approval.clientName,
      approval.username ?? '(the application itself)',
      approval.requestedAt,
      approval.expiresAt ?? '-',
    ]);
    printResult(
      options,
      items,
      formatTable(['id', 'status', 'application', 'customer', 'requested', 'expires'], rows),
    );
  });
}

/** Says yes or no to a request for the scope admin, or takes a yes back. */
export function decide(
  verb: 'approve' | 'deny' | 'revoke',
  id: string,
  options: CommandOptions,
): Promise<void> {
  return withServices(options, async ({ approvals, contextOf }) => {
    const number = parseId(id, 'no id of a request: "curd approvals list" shows them');
    await approvals[verb](contextOf('cli'), number);
    const words = {
      approve: `Request ${id} is approved for 90 days.`,
      deny: `Request ${id} is denied.`,
      revoke: `Request ${id} is revoked: its tokens are refused from the next request on.`,
    };
    printResult(
      options,
      (await approvals.list()).find((approval) => approval.id === number),
      words[verb],
    );
  });
}
