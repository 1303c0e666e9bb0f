/** The HTML document around the content of each page. */
import { type Html, html } from './html.ts';

interface Page {
  readonly title: string;
  /** One sentence about the page. */
  readonly description: string;
  /** Elements of the head: style, icon. */
  readonly head: Html;
  readonly body: Html;
}

/** A whole page in English. It is not for search engines. */
export function layout({ title, description, head, body }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="description" content="${description}">
<title>${title}</title>
${head}
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`.text;
}
