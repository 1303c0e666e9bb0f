/** What the authorization server needs to know of customers; whoever keeps them provides it. */

export type Role = 'customer' | 'staff';

export interface Person {
  readonly username: string;
  readonly role: Role;
}

export interface People {
  /** The id of who has this name and password. @throws AppError unauthorized, rateLimited, unavailable */
  authenticate(username: string, password: string, address: string): Promise<number>;
  find(customerId: number): Promise<Person | undefined>;
}
