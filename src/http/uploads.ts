/** Where the file of a form lies until its request is answered, and how many there may be. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { AppError, unavailable } from '../errors.ts';
import { restrict } from '../permissions.ts';
import { cannotStore, drain, type ReceivedForm, receiveForm } from './multipart.ts';

/** Received, waiting and worked on together: each of them holds a file of ten megabytes at most. */
export const uploadsMax = 64;
/** A client that sends slowly keeps its slots for minutes. The three API keys of an account leave some to others. */
export const uploadsOfPrincipalMax = 16;
const retrySeconds = 5;
/** Of a body that was refused. */
const discardedBytesMax = 64 * 1024 * 1024;
/** No request lasts so long: a file this old belongs to a process that is gone. */
const forgottenMs = 60 * 60 * 1000;

export interface Uploads {
  /**
   * Hands `work` a function that reads the form of a request, and removes its file when `work` is through. Where that
   * fails, the rest of the body is read and thrown away.
   * @param principal one has a bounded number of uploads at once
   */
  withUpload<T>(
    request: IncomingMessage,
    principal: string,
    plan: { readonly fileField: string; readonly fileBytesMax: number },
    work: (receive: () => Promise<ReceivedForm>) => Promise<T>,
  ): Promise<T>;
  /** How many are under way. */
  count(): number;
  /** Reads what is left of a refused request and throws it away. */
  drain(request: IncomingMessage): void;
  /** Removes what killed processes have left. */
  purge(): Promise<void>;
}

/** @param folder where files lie meanwhile; `purge` is to be called now and then */
export function createUploads(folder: string, clock: Clock): Uploads {
  restrict(folder);
  /** Uploads under way by principal; those without any are not in it. */
  const slots = new Map<string, number>();
  let underWay = 0;

  /** @throws AppError rateLimited, unavailable */
  function takeSlot(principal: string): void {
    const own = slots.get(principal) ?? 0;
    if (own >= uploadsOfPrincipalMax) {
      throw new AppError(
        'rateLimited',
        `${own} uploads with this credential are in progress, which is the limit. Wait until one has finished.`,
        { details: { retryAfterMs: retrySeconds * 1000 } },
      );
    }
    if (underWay >= uploadsMax) {
      throw unavailable('Too many uploads are in progress. Try again in a moment.', retrySeconds);
    }
    slots.set(principal, own + 1);
    underWay += 1;
  }

  function releaseSlot(principal: string): void {
    const others = (slots.get(principal) ?? 1) - 1;
    if (others > 0) {
      slots.set(principal, others);
    } else {
      slots.delete(principal);
    }
    underWay -= 1;
  }

  return {
    async withUpload(request, principal, plan, work) {
      const path = join(folder, clock.uuid());
      let hasSlot = false;
      const receive = async () => {
        takeSlot(principal);
        hasSlot = true;
        await makeFolder(folder);
        return receiveForm(request, { ...plan, path });
      };
      try {
        return await work(receive);
      } catch (error) {
        drain(request, discardedBytesMax);
        throw error;
      } finally {
        if (hasSlot) {
          releaseSlot(principal);
        }
        // What cannot be removed now is purged later.
        await rm(path, { force: true }).catch(() => {});
      }
    },
    count: () => underWay,
    drain: (request) => drain(request, discardedBytesMax),
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
