/** The program of the thread that checkpoints.ts starts: a checkpoint for each message. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const connection = new DatabaseSync(workerData as string, { timeout: 0 });

parentPort?.on('message', () => {
  try {
    connection.exec('pragma wal_checkpoint(passive)');
  } catch {
    // Another process makes a checkpoint, or the disk fails: the next message tries again.
  }
});
