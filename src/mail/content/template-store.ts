/** The templates of a server, read once: a changed file has an effect after a restart, when it is checked. */
import type { Templates } from './template-files.ts';

export type TemplateStore = ReturnType<typeof createTemplateStore>;

/** @param folder null: those of Curd alone */
export function createTemplateStore(folder: string | null) {
  let templates: Promise<Templates> | null = null;

  function read(): Promise<Templates> {
    templates ??= import('./templates.ts').then(({ readTemplates }) => readTemplates(folder));
    return templates;
  }

  return {
    /** @throws ConfigError if a template is invalid */
    read,
    /** Reads templates of the shop, so that an invalid one ends the start. @throws ConfigError */
    async check() {
      if (folder !== null) {
        await read();
      }
    },
  };
}
