/** HTML by template: whatever is put in is escaped, unless it is HTML already. */

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | readonly Html[] | string | number | null;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** null is nothing, lists stand one after another. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.map((text, index) => text + written(parts[index] ?? null)).join(''));
}

function written(part: Part): string {
  if (part === null) {
    return '';
  }
  if (part instanceof Html) {
    return part.text;
  }
  if (typeof part === 'object') {
    return part.map(({ text }) => text).join('');
  }
  return String(part).replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
