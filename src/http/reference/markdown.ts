/** Texts of the OpenAPI document as HTML. */
import { marked } from 'marked';
import { Html } from '../pages/html.ts';

/** Code scrolls if it is wider than a phone: by keys, too, if it can have the focus. */
const focusable = '<pre tabindex="0">';

/** Markdown of the document, with paragraphs. It is text of this program, so it may become HTML. */
export const blocks = (markdown = ''): Html =>
  new Html(marked.parse(markdown, { async: false }).replaceAll('<pre>', focusable));

/** Markdown of one line. */
export const inline = (markdown = ''): Html => new Html(marked.parseInline(markdown, { async: false }));
