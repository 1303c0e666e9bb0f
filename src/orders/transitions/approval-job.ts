/** The background job that approves an order after CURD_APPROVAL_DELAY: one for each placed order with prices. */
import type { Sql } from '../../database/database.ts';
import { addJob, claimJob, deleteJob, deleteJobs } from '../../jobs/queue.ts';

export const orderApprovalKind = 'order.approval';

export function addOrderApprovalJob(tx: Sql, orderId: number, dueAt: string): Promise<void> {
  return addJob(tx, orderApprovalKind, String(orderId), dueAt);
}

/** Deletes the job of an order that a request approved or cancelled. */
export function deleteOrderApprovalJob(tx: Sql, orderId: number): Promise<void> {
  return deleteJob(tx, orderApprovalKind, String(orderId));
}

/** Works like `deleteOrderApprovalJob`, for many orders. */
export function deleteOrderApprovalJobs(tx: Sql, orderIds: readonly number[]): Promise<void> {
  return deleteJobs(tx, orderApprovalKind, orderIds.map(String));
}

/** Deletes the job if it is due and no other worker has it. Returns whether it did. */
export function claimOrderApprovalJob(tx: Sql, orderId: number, now: string): Promise<boolean> {
  return claimJob(tx, orderApprovalKind, String(orderId), now);
}
