/** Files of forms while their requests run: where they are on disk, and how many there can be. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type Clock, machineTime } from '../../clock.ts';
import { AppError, unavailable } from '../../errors.ts';
import { restrict } from '../../file-permissions.ts';
import { cannotStore, drain, type ReceivedForm, receiveMultipart } from './multipart.ts';

/** Uploads in progress at once. Each has a file of ten megabytes at most. */
export const uploadsMax = 64;
/** A client that sends slowly keeps its slots for minutes. The three API keys of an account leave some to others. */
export const uploadsOfPrincipalMax = 16;
const retrySeconds = 5;
/** How much of a refused body is read before the connection is closed. */
const discardedBytesMax = 64 * 1024 * 1024;
/** No request lasts this long, so a file of this age was left by a process that has ended. */
const forgottenMs = 60 * 60 * 1000;

export type Uploads = ReturnType<typeof createUploads>;

/** @param folder for the received files. Call `purge` at intervals. */
export function createUploads(folder: string, clock: Clock) {
  restrict(folder);
  /** Uploads in progress by principal, without principals that have none. */
  const slots = new Map<string, number>();
  let inProgress = 0;

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
    if (inProgress >= uploadsMax) {
      throw unavailable('Too many uploads are in progress. Try again in a moment.', retrySeconds);
    }
    slots.set(principal, own + 1);
    inProgress += 1;
  }

  function releaseSlot(principal: string): void {
    const others = (slots.get(principal) ?? 1) - 1;
    if (others > 0) {
      slots.set(principal, others);
    } else {
      slots.delete(principal);
    }
    inProgress -= 1;
  }

  return {
    /**
     * Calls `work` with a function that receives the form of a request, and deletes the file when `work` is done. When
     * `work` fails, the rest of the body is read and discarded.
     * @param principal a principal can have `uploadsOfPrincipalMax` uploads in progress
     */
    async withUpload<T>(
      request: IncomingMessage,
      principal: string,
      plan: { readonly fileField: string; readonly fileBytesMax: number },
      work: (receive: () => Promise<ReceivedForm>) => Promise<T>,
    ) {
      const path = join(folder, clock.uuid());
      let hasSlot = false;
      const receive = async () => {
        takeSlot(principal);
        hasSlot = true;
        await makeFolder(folder);
        return receiveMultipart(request, { ...plan, path });
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
        // `purge` deletes it later if this fails.
        await rm(path, { force: true }).catch(() => {});
      }
    },
    /** Uploads in progress. */
    count: () => inProgress,
    /** Reads the rest of a refused request and discards it. */
    drain: (request: IncomingMessage) => drain(request, discardedBytesMax),
    /** Deletes files that killed processes have left. */
    async purge() {
      for (const name of await readdir(folder).catch(() => [])) {
        const path = join(folder, name);
        const found = await stat(path).catch(() => null);
        if (found?.isFile() && found.mtimeMs < machineTime(clock) - forgottenMs) {
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
