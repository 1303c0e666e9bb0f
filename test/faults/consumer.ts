/** A consumer of the event log that continues at its position, whatever happens to the servers it reads from. */
import assert from 'node:assert/strict';

const pageItems = 100;
const waitSeconds = 1;

interface Page {
  readonly items: readonly { readonly sequence: number; readonly id: string }[];
  readonly next: string;
  readonly hasMore: boolean;
}

export interface Consumer {
  /** The numbers of all events that it has read, in the order of their arrival. */
  readonly sequences: readonly number[];
  /** Reads from the servers in turn until one of them breaks the connection. */
  readUntilCut(urls: readonly string[]): Promise<void>;
  /** Reads to the end of the log. */
  readRest(url: string): Promise<void>;
}

export function createConsumer(key: string): Consumer {
  const sequences: number[] = [];
  let position = 'earliest';

  async function read(url: string, wait: number): Promise<Page> {
    const query = `since=${position}&limit=${pageItems}&wait=${wait}`;
    const response = await fetch(`${url}/v2/events?${query}`, { headers: { 'X-API-Key': key } });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const page = JSON.parse(text) as Page;
    sequences.push(...page.items.map(({ sequence }) => sequence));
    position = page.next;
    return page;
  }

  return {
    sequences,
    async readUntilCut(urls) {
      try {
        for (let turn = 0; ; turn += 1) {
          await read(urls[turn % urls.length] ?? '', waitSeconds);
        }
      } catch (error) {
        // The error of fetch when the connection breaks. All other errors are failures.
        if (!(error instanceof TypeError)) {
          throw error;
        }
      }
    },
    async readRest(url) {
      while ((await read(url, 0)).hasMore) {}
    },
  };
}
