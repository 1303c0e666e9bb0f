/** What the authorization server needs to know of customers; whoever keeps them provides it. */

export const roles = ['customer', 'staff'] as const;
export type Role = (typeof roles)[number];

export interface CustomerSummary {
  readonly username: string;
  readonly role: Role;
}

export interface CustomerDirectory {
  /** The id of who has this name and password. @throws AppError unauthorized, rateLimited, unavailable */
  authenticate(username: string, password: string, address: string): Promise<number>;
  /** What others may know of a customer. */
  find(customerId: number): Promise<CustomerSummary | undefined>;
}
