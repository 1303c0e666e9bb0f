/** HTML by tagged templates: values are escaped, unless they are HTML already. */

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = Html | readonly Html[] | string | number | null;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** null becomes the empty text, a list becomes its items without separators. */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(strings.map((text, index) => text + escapeValue(values[index] ?? null)).join(''));
}

function escapeValue(value: Value): string {
  if (value === null) {
    return '';
  }
  if (value instanceof Html) {
    return value.text;
  }
  if (typeof value === 'object') {
    return value.map(({ text }) => text).join('');
  }
  return String(value).replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
