/** Names of exports, and business words in http/. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { filesIn, placesOf, read } from './sources.ts';

interface Export {
  readonly name: string;
  readonly path: string;
}

const exports: readonly Export[] = filesIn('src/**/*.ts').flatMap((path) => {
  const names = [
    ...read(path).matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm),
  ].map(([, name = '']) => name);
  // A schema and its type have one name.
  return [...new Set(names)].map((name) => ({ name, path }));
});

/** The words of a name in lower case: `photoUrlRule` is `photo url rule`. */
const wordsOf = (name: string) => name.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase();

/** Words for which there is a term of the field, or that carry no information. */
const avoided =
  /\b(whoever|whatever|nobody|somebody|anew|likewise|thereof|told|answers?|pictures?|photos?(?! url)|helpers?|housekeeping|filings?|filed|hold(?:s|er|ing)?|standing|waive|keeper|faults)\b/;

/**
 * Words of the shop; `image/` begins a media type. The layer http/ serves any routes, and reads all texts on them from
 * their definitions.
 */
const businessWords =
  /cheese|image(?!\/)|picture|photo|\borders\b|Orders?\b|countries|customer|\btiers?\b|\bshop\b/;

suite('Names', () => {
  test('Names are found by these gates', () => {
    assert.ok(exports.length > 500);
    assert.ok(exports.some(({ name, path }) => name === 'validate' && path === 'src/schema/validate.ts'));
  });

  test('Names of exports are unique', () => {
    const byName = Map.groupBy(exports, ({ name }) => name);
    const repeated = [...byName].flatMap(([name, files]) =>
      files.length > 1 ? [`${name}: ${files.map(({ path }) => path).join(', ')}`] : [],
    );
    assert.deepEqual(repeated, [], 'make each name specific');
  });

  test('Names of exports contain no avoided words', () => {
    const found = exports.filter(({ name }) => avoided.test(wordsOf(name)));
    assert.deepEqual(
      found.map(({ name, path }) => `${path} ${name}`),
      [],
      'use the term of the field',
    );
  });

  test('Names and texts in http/ contain no business words', () => {
    const allowed = [
      // The realm of WWW-Authenticate never changes: clients may have stored passwords and tokens under it.
      'src/http/responses/error-mapping.ts',
      // The stored scope of idempotency keys contains the customer for whom a key acts.
      'src/http/pipeline/execute.ts',
      // The cache tag of every response is documented as `shop`.
      'src/http/responses/public-response.ts',
    ];
    const found = placesOf(businessWords, allowed).filter((place) => place.startsWith('src/http/'));
    assert.deepEqual(found, [], 'declare the text in the route, or move the file to the area');
  });
});
