/** The port to customers, which src/customers implements. */

export const roles = ['customer', 'staff'] as const;
export type Role = (typeof roles)[number];

export interface CustomerSummary {
  readonly username: string;
  readonly role: Role;
}

export interface CustomerDirectory {
  /** The id of the customer. @throws AppError unauthorized, rateLimited, unavailable */
  authenticate(username: string, password: string, clientIp: string): Promise<number>;
  /** Undefined when the customer was deleted. */
  find(customerId: number): Promise<CustomerSummary | undefined>;
}

export interface Registration {
  /**
   * Registers a customer, and returns the id.
   * @throws AppError validation; conflict, with the taken fields as its cause; unavailable
   */
  register(fields: Readonly<Record<string, string>>): Promise<number>;
}
