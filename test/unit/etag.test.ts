/** Entity tags and their comparison. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/errors.ts';
import { matchesIfNoneMatch, requireIfMatch, strongTag, weakTag } from '../../src/http/responses/etag.ts';

const versions = fc.maxSafeNat();
/** Other tags, with everything that RFC 9110 permits: commas, blanks in lists, obs-text. */
const foreignTags = fc
  .string({ unit: fc.constantFrom('a', 'b', ',', '!', "'", '/', 'W', 'ÿ'), maxLength: 5 })
  .map((text) => `"x${text}"`);
const separators = fc.constantFrom(',', ', ', ' ,\t');

function matches(ifMatch: string | undefined, tag: string): boolean {
  try {
    requireIfMatch(ifMatch, tag);
    return true;
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'preconditionFailed');
    return false;
  }
}

suite('Entity tags', () => {
  test('Entity tags are strong for a resource and weak for a list, one for each version', () => {
    assert.equal(strongTag(12), '"12"');
    assert.equal(weakTag(12), 'W/"12"');
    fc.assert(
      fc.property(versions, versions, (a, b) => assert.equal(strongTag(a) === strongTag(b), a === b)),
    );
  });

  test('Entity tags match If-None-Match by weak comparison, at any position', () => {
    fc.assert(
      fc.property(
        versions,
        fc.array(foreignTags, { maxLength: 4 }),
        separators,
        fc.nat(),
        (version, others, separator, random) => {
          const tag = strongTag(version);
          const weak = weakTag(version);
          const at = random % (others.length + 1);
          for (const [mine, theirs] of [
            [tag, tag],
            [tag, weak],
            [weak, tag],
            [weak, weak],
          ] as const) {
            assert.ok(matchesIfNoneMatch(others.toSpliced(at, 0, theirs).join(separator), mine));
          }
          assert.ok(!matchesIfNoneMatch(others.join(separator), tag));
        },
      ),
    );
  });

  test('Entity tags match with the encoding that a compressing server has added', () => {
    for (const suffix of ['-gzip', '--gzip', '-br', '-deflate', '-zstd']) {
      const tag = (version: string) => `"${version}${suffix}"`;
      assert.ok(matches(tag('1'), strongTag(1)) && matches(`"0", ${tag('1')}`, strongTag(1)), suffix);
      assert.ok(!matches(tag('1'), strongTag(2)) && !matches(`W/${tag('1')}`, strongTag(1)), suffix);
      assert.ok(matchesIfNoneMatch(`W/${tag('1')}`, weakTag(1)), suffix);
      assert.ok(matchesIfNoneMatch(tag('x'), `W/${tag('x')}`), 'a version may end so');
    }
  });

  test('Entity tags match If-Match by strong comparison: a weak tag matches nothing', () => {
    fc.assert(
      fc.property(
        versions,
        fc.array(foreignTags, { maxLength: 4 }),
        separators,
        fc.nat(),
        (version, others, separator, random) => {
          const tag = strongTag(version);
          const at = random % (others.length + 1);
          assert.ok(matches(others.toSpliced(at, 0, tag).join(separator), tag));
          assert.ok(!matches(others.toSpliced(at, 0, weakTag(version)).join(separator), tag));
          assert.ok(!matches(others.join(separator), tag));
        },
      ),
    );
  });

  test('Entity tags of another version do not match', () => {
    fc.assert(
      fc.property(versions, versions, (a, b) => {
        fc.pre(a !== b);
        assert.ok(!matchesIfNoneMatch(strongTag(a), strongTag(b)));
        assert.ok(!matches(strongTag(a), strongTag(b)));
      }),
    );
  });

  test('Entity tags are matched by a star, but not by a star in a list of tags', () => {
    for (const star of ['*', ' * ']) {
      assert.ok(matchesIfNoneMatch(star, '"1"'));
      assert.ok(matches(star, '"1"'));
    }
    assert.ok(!matchesIfNoneMatch('"*"', '"1"'));
    assert.ok(!matches('"*"', '"1"'));
  });

  test('Entity tags are not compared when the header is absent', () => {
    assert.ok(!matchesIfNoneMatch(undefined, '"1"'));
    assert.ok(matches(undefined, '"1"'));
  });

  test('Entity tags do not match text without quotes: a malformed If-Match changes nothing', () => {
    for (const text of ['', '1', '"1', "'1'", '12']) {
      assert.ok(!matchesIfNoneMatch(text, '"1"'), text);
      assert.ok(!matches(text, '"1"'), text);
    }
  });
});
