/**
 * HTML of a mail in a frame without rights: no scripts, no forms, no origin. The frame has the policy of the console too,
 * so it loads nothing from elsewhere.
 */
import './mail.css';
import { styleNonce } from '../../environment.ts';

export function HtmlFrame({ html, title }: { readonly html: string; readonly title: string }) {
  return <iframe className="mail-frame" sandbox="" srcDoc={withPermittedStyles(html)} title={title} />;
}

/**
 * The policy permits styles with its nonce only. A rule takes the place of each style attribute, which can have no nonce.
 * Both are changed in the text, because a parsed document has the policy too.
 */
function withPermittedStyles(html: string): string {
  const text = html
    .replaceAll(/<style(?=[\s>])/gi, `<style nonce="${styleNonce()}"`)
    .replaceAll(/<[a-z][^>]*>/gi, (tag) => tag.replace(/\sstyle\s*=/i, ' data-style='));
  const page = new DOMParser().parseFromString(text, 'text/html');
  const sheet = page.createElement('style');
  sheet.setAttribute('nonce', styleNonce());
  sheet.textContent = [...page.querySelectorAll<HTMLElement>('[data-style]')]
    .map((element, index) => {
      const { style } = element.dataset;
      element.dataset.style = String(index);
      return `[data-style="${index}"] { ${style} }`;
    })
    .join('\n');
  page.head.append(sheet);
  return `<!doctype html>${page.documentElement.outerHTML}`;
}
