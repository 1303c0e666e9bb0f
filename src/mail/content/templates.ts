/** The templates of mails: those of Curd, and files of a folder that replace single ones. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandName } from '../../command-name.ts';
import { mailNames } from '../../settings/mail.ts';
import { ConfigError } from '../../settings/parsers.ts';
import { toReason } from '../../system-errors.ts';
import { type Templates, templateEndings, templateFiles } from './template-files.ts';

const builtIn = fileURLToPath(new URL('built-in', import.meta.url));
const folders = ['orders', 'account', 'parts'];
const bytesMax = 256 * 1024;

/** The templates of Curd. */
export async function readBuiltInTemplates(): Promise<Templates> {
  const found: Record<string, string> = {};
  for (const folder of folders) {
    for (const file of await readdir(join(builtIn, folder))) {
      found[file] = await readFile(join(builtIn, folder, file), 'utf8');
    }
  }
  return found;
}

/**
 * Reads and checks the templates.
 * @param folder null: without files that replace them
 * @throws ConfigError that names the file and the variable
 */
export async function readTemplates(folder: string | null): Promise<Templates> {
  const templates = await readBuiltInTemplates();
  if (folder === null) {
    return templates;
  }
  const own = await readFolder(folder);
  const all = { ...templates, ...own };
  const { checkTemplate } = await import('./check.ts');
  for (const name of mailNames) {
    for (const ending of templateEndings) {
      checkTemplate(all, name, `${name}.${ending}`, folder);
    }
  }
  return all;
}

async function readFolder(folder: string): Promise<Templates> {
  const files = await readdir(folder).catch((error) => {
    throw new ConfigError(`CURD_MAIL_TEMPLATES: ${folder} cannot be read: ${toReason(error)}.`);
  });
  const own: Record<string, string> = {};
  for (const file of files.filter((name) => !name.startsWith('.'))) {
    if (!templateFiles.includes(file)) {
      throw new ConfigError(
        `CURD_MAIL_TEMPLATES: ${join(folder, file)} is no template. "${commandName} mail templates export <folder>" writes all of them with their names. Rename or remove the file.`,
      );
    }
    const text = await readFile(join(folder, file), 'utf8').catch((error) => {
      throw new ConfigError(`CURD_MAIL_TEMPLATES: ${join(folder, file)} cannot be read: ${toReason(error)}.`);
    });
    if (text.length > bytesMax) {
      throw new ConfigError(`CURD_MAIL_TEMPLATES: ${join(folder, file)} has more than 256 KiB. Shorten it.`);
    }
    own[file] = text;
  }
  return own;
}
