/**
 * What the shop is, as this process last read it: pages, mails and messages name the shop and its currency without
 * waiting for the database. Changes of this process are seen at once, and those of others within seconds.
 */
import type { Database, Sql } from '../database/database.ts';
import type { Loops } from '../jobs/loops.ts';
import { RepeatedWork } from '../jobs/repeated-work.ts';
import type { Log } from '../log.ts';
import { showMoney } from '../schema/money-text.ts';
import { type ShopRow, shopQueries } from './queries.ts';
import { newSettings, newShop, type Shop, type ShopSettings } from './schemas.ts';

const intervalMs = 2000;

export class ShopProfile {
  readonly #database: Database;
  readonly #reads: RepeatedWork;
  #row: ShopRow;
  #shop: Shop;
  #settings: ShopSettings;

  private constructor(database: Database, log: Pick<Log, 'error'>, loops: Loops, row: ShopRow) {
    this.#database = database;
    this.#row = row;
    this.#shop = JSON.parse(row.body);
    this.#settings = JSON.parse(row.settings);
    this.#reads = new RepeatedWork({
      loops,
      name: 'shop.profile',
      everyMs: intervalMs,
      run: () => this.read(),
      onError: (error) => log.error({ err: error }, 'the description of the shop could not be read'),
    });
  }

  /** Reads the shop. At the first start it gets its name. */
  static async open(
    database: Database,
    log: Pick<Log, 'error'>,
    loops: Loops,
    name: string,
  ): Promise<ShopProfile> {
    const row = await shopQueries(database).find();
    if (row === undefined) {
      await shopQueries(database).insert(JSON.stringify({ name, ...newShop }), JSON.stringify(newSettings));
      return ShopProfile.open(database, log, loops, name);
    }
    return new ShopProfile(database, log, loops, row);
  }

  /** The shop as it was last read. */
  get current(): Shop {
    return this.#shop;
  }

  /** An amount with the currency of the shop. */
  readonly showPrice = (cents: number): string => showMoney(cents, { currency: this.#shop.currency });

  /** What only the owner of the shop reads, as it was last read. */
  get settings(): ShopSettings {
    return this.#settings;
  }

  /** Reads the row. */
  async read(): Promise<ShopRow> {
    this.#follow((await shopQueries(this.#database).find()) ?? this.#row);
    return this.#row;
  }

  #follow(row: ShopRow): void {
    if (row.version !== this.#row.version) {
      this.#shop = JSON.parse(row.body);
    }
    if (row.settings_version !== this.#row.settings_version) {
      this.#settings = JSON.parse(row.settings);
    }
    this.#row = row;
  }

  /** Whether an order was placed that any process of this shop has committed before the last read. */
  get isCurrencyFixed(): boolean {
    return this.#row.currency_fixed === 1;
  }

  /**
   * Fixes the currency in the transaction of an order, which is charged in it. A change of the currency at the same time
   * waits for this, or this waits for it and reads the shop again. The transaction may not commit, so the currency counts
   * as fixed with the next read.
   */
  async fixCurrency(tx: Sql): Promise<void> {
    const queries = shopQueries(tx);
    const [, row = this.#row] = await Promise.all([queries.fixCurrency(), queries.find()]);
    this.#follow({ ...row, currency_fixed: this.#row.currency_fixed });
  }

  start(): void {
    this.#reads.start();
  }

  stop(): Promise<void> {
    return this.#reads.stop();
  }
}
