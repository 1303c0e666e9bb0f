/**
 * Loaded before a program, with `node --import`: each commit on SQLite takes half a millisecond longer, as if its
 * fdatasync did. So commits on a virtual disk that only writes to memory can be compared with those on a real one.
 */
import { DatabaseSync } from 'node:sqlite';

const delayMs = 0.5;
const never = new Int32Array(new SharedArrayBuffer(4));
const exec = DatabaseSync.prototype.exec;

DatabaseSync.prototype.exec = function (this: DatabaseSync, text: string): void {
  exec.call(this, text);
  if (text === 'commit') {
    Atomics.wait(never, 0, 0, delayMs);
  }
};
