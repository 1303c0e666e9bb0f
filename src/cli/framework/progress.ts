/** A progress bar on standard error, only on a terminal. */

const width = 30;
/** Erases the end of a longer note. */
const eraseRest = '\u001b[K';

/** A bar that is full at `total`. */
export function progressBar(total: number) {
  const { stderr } = process;
  return {
    show(done: number, note: string) {
      if (stderr.isTTY) {
        const share = total === 0 ? 1 : Math.min(1, done / total);
        const filled = Math.round(share * width);
        const bar = `${'='.repeat(filled)}${' '.repeat(width - filled)}`;
        stderr.write(`\r[${bar}] ${String(Math.round(share * 100)).padStart(3)} %  ${note}${eraseRest}`);
      }
    },
    /** Removes the bar. */
    clear() {
      if (stderr.isTTY) {
        stderr.write('\r\u001b[2K');
      }
    },
  };
}
