/** The background job that approves an order after CURD_APPROVAL_DELAY: one for each placed order with prices. */
import type { Sql } from '../../database/database.ts';
import { addJob, claimJob, deleteJob, deleteJobs } from '../../jobs/queue.ts';

export const approvalKind = 'order.approval';

export function addApprovalJob(tx: Sql, orderId: number, dueAt: string): Promise<void> {
  return addJob(tx, approvalKind, String(orderId), dueAt);
}

/** Deletes the job of an order that a request approved or cancelled. */
export function deleteApprovalJob(tx: Sql, orderId: number): Promise<void> {
  return deleteJob(tx, approvalKind, String(orderId));
}

/** Works like `deleteApprovalJob`, for many orders. */
export function deleteApprovalJobs(tx: Sql, orderIds: readonly number[]): Promise<void> {
  return deleteJobs(tx, approvalKind, orderIds.map(String));
}

/** Deletes the job if it is due and no other worker has it. Returns whether it did. */
export function claimApprovalJob(tx: Sql, orderId: number, now: string): Promise<boolean> {
  return claimJob(tx, approvalKind, String(orderId), now);
}
