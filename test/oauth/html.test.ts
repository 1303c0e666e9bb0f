/** HTML of the pages: values are escaped. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { Html, html } from '../../src/http/pages/html.ts';
import { newApplication, openBrowser, openListeningShop, password, queryOf } from './flow.ts';

/** The characters that browsers read for entities (HTML, section 13.2.5.72). */
const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" };
const readBack = (text: string) =>
  text.replace(/&(lt|gt|amp|quot|#39);/g, (_, name) => characters[name] ?? '');

/** Texts with more than their share of what means something in HTML. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom('<', '>', '&', '"', "'", '`', '=', '/', '&amp;', '&#39;', '<script>', ' onload=', 'a'),
    )
    .map((parts) => parts.join('')),
);

suite('html``', () => {
  test('The tag html escapes values without loss', () => {
    fc.assert(
      fc.property(text, text, (content, attribute) => {
        const written = html`<p title="${attribute}">${content}</p>`.text;
        const [, title = '', inner = ''] = /^<p title="([^<>"']*)">([^<>"']*)<\/p>$/.exec(written) ?? [];
        assert.deepEqual([readBack(title), readBack(inner)], [attribute, content], written);
        assert.doesNotMatch(written, /&(?!(lt|gt|amp|quot|#39);)/);
      }),
    );
  });

  test('The tag html does not escape values that are HTML already', () => {
    fc.assert(
      fc.property(fc.array(text), (texts) => {
        const items = texts.map((one) => html`<li>${one}</li>`);
        const written = html`<ul>${items}</ul>`;
        assert.equal(written.text, `<ul>${items.map((item) => item.text).join('')}</ul>`);
        assert.equal(html`${written}`.text, written.text);
      }),
    );
  });

  test('The tag html writes numbers as text, and null as the empty text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer(), fc.double()), (number) => {
        assert.equal(html`<b>${number}</b>${null}`.text, `<b>${number}</b>`);
      }),
    );
    assert.ok(html`` instanceof Html);
  });
});

/** What a browser would build of a page: its tags without the values of their attributes. */
const tagsOf = (page: string) => (page.match(/<[^>]*>/g) ?? []).map((tag) => tag.replace(/"[^"]*"/g, '""'));

const written = (raw: string) =>
  raw.replace(/[&<>"']/g, (one) => `&${Object.keys(characters).find((name) => characters[name] === one)};`);

test('The OAuth pages escape names of applications, usernames and parameters of links', async (t) => {
  const shop = await openListeningShop(t);
  const {
    customers: { service: customers },
    oauth: { clients },
    contextOf,
  } = shop.app;
  for (const name of ['<script>alert(1)</script>', 'A<b', 'A>b', '"A', ' A', '', 'A\u202eB', 'A\nB']) {
    await assert.rejects(newApplication(shop, { name }), /name of an application/, JSON.stringify(name));
  }
  assert.deepEqual(await clients.list(), []);

  /** The pages on the way: login, a login that failed, consent. */
  async function pagesOf(name: string, username: string, hint: string): Promise<string[]> {
    const app = await newApplication(shop, { name });
    const email = `${app.clientId}@example.com`;
    await customers.register(contextOf('test'), { username, email, password });
    const query = queryOf(app, { scope: 'read:cheeses', login_hint: hint });
    const person = openBrowser(shop.url, username);
    const visits = [
      await person.authorize(query, { login: undefined }),
      await openBrowser(shop.url, hint, 'wrong').authorize(query),
      await person.authorize(query, { consent: undefined }),
    ];
    return visits.map(({ page }) => page);
  }

  // As hostile as the rules for each let it be: names have no angle brackets, usernames no blanks and no slashes.
  const name = `Diary"onmouseover="alert(1)"x='&lt;b&gt;`;
  const username = `"><body\u00b7onload="alert(1)"'&lt;`;
  const hint = `"></title><svg/onload=alert(1)>'&amp;`;
  const usual = await pagesOf('Cheese Diary', 'ada', 'ada');
  const hostile = await pagesOf(name, username, hint);
  assert.deepEqual(hostile.map(tagsOf), usual.map(tagsOf));
  for (const [index, other] of [hint, hint, username].entries()) {
    assert.ok(hostile[index]?.includes(written(name)), `the application is not named on page ${index}`);
    assert.ok(hostile[index]?.includes(written(other)), `${other} is not on page ${index}`);
  }
});
