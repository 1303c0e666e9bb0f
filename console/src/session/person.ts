/** The person who is signed in, and their rights. */
import type { Curd, Result } from '../../../client/src/index.ts';

export interface Person {
  /** The actor in events: `client:console`, or with the customer. */
  readonly id: string;
  /** The username; null for a sign-in by link. */
  readonly username: string | null;
  readonly isAdmin: boolean;
  readonly mayWriteCheeses: boolean;
  /** The request for the scope admin of a sign-in with a password. */
  readonly approval: Result<'explainCredential'>['approval'];
}

export async function readPerson(curd: Curd): Promise<Person> {
  const who = await curd.credential.explain();
  const isAdmin = who.scopes.includes('admin');
  return {
    id: who.id,
    username: who.customer,
    isAdmin,
    mayWriteCheeses: isAdmin || who.scopes.includes('write:cheeses'),
    approval: who.approval,
  };
}

/** Whether an operator must decide on the request for the scope admin. */
export const needsApproval = ({ isAdmin, approval }: Person) =>
  !isAdmin && approval !== null && approval.status !== 'approved';
