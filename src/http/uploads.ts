/** Where the file of a form lies until its request is answered, and how many there may be. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { unavailable } from '../errors.ts';
import { restrict } from '../permissions.ts';
import { cannotStore, discard, type ReceivedForm, receiveForm } from './multipart.ts';

/** Received, waiting and worked on together: each of them holds a file of ten megabytes at most. */
export const uploadsMax = 64;
/** Of a body that was refused. */
const discardedBytesMax = 64 * 1024 * 1024;
/** No request lasts so long: a file this old belongs to a process that is gone. */
const forgottenMs = 60 * 60 * 1000;

export interface Uploads {
  /**
   * Hands `work` a function that reads the form of a request, and removes its file when `work` is through. Where that
   * fails, the rest of the body is read and thrown away.
   */
  during<T>(
    request: IncomingMessage,
    plan: { readonly fileField: string; readonly fileBytesMax: number },
    work: (receive: () => Promise<ReceivedForm>) => Promise<T>,
  ): Promise<T>;
  /** How many are under way. */
  count(): number;
  /** Reads what is left of a refused request and throws it away. */
  refuse(request: IncomingMessage): void;
  /** Removes what killed processes have left. */
  purge(): Promise<void>;
}

/** @param folder where files lie meanwhile; `purge` is to be called now and then */
export function createUploads(folder: string, clock: Clock): Uploads {
  restrict(folder);
  let underWay = 0;

  return {
    async during(request, plan, work) {
      const path = join(folder, clock.uuid());
      let isCounted = false;
      const receive = async () => {
        if (underWay >= uploadsMax) {
          throw unavailable('Too many pictures are being uploaded. Try again in a moment.', 5);
        }
        underWay += 1;
        isCounted = true;
        await makeFolder(folder);
        return receiveForm(request, { ...plan, path });
      };
      try {
        return await work(receive);
      } catch (error) {
        discard(request, discardedBytesMax);
        throw error;
      } finally {
        underWay -= isCounted ? 1 : 0;
        // What cannot be removed now is purged later.
        await rm(path, { force: true }).catch(() => {});
      }
    },
    count: () => underWay,
    refuse: (request) => discard(request, discardedBytesMax),
    async purge() {
      for (const name of await readdir(folder).catch(() => [])) {
        const path = join(folder, name);
        const found = await stat(path).catch(() => null);
        if (found?.isFile() && found.mtimeMs < clock.now() - forgottenMs) {
          await rm(path, { force: true });
        }
      }
    },
  };
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw cannotStore(error);
  }
}
