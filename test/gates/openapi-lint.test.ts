/**
 * The OpenAPI document has no errors and no warnings of Redocly but the listed ones. Spectral is too large to install for
 * the tests (52 MB): CONTRIBUTING.md says how to run it.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { read } from './sources.ts';

/** Warnings that are no mistakes. This list may only shrink. */
const explained: Readonly<Record<string, { readonly reason: string; readonly places: readonly string[] }>> = {
  'operation-2xx-response': {
    reason: 'these send a browser to the next page',
    places: [
      '/oauth/authorize get',
      '/oauth/authorize/{uid} get',
      '/v2/oauth/authorize get',
      '/oauth/interaction/{uid}/login post',
      '/oauth/interaction/{uid}/register post',
      '/oauth/interaction/{uid}/consent post',
      '/oauth/password-reset/{token} post',
    ],
  },
  'no-unused-components': {
    reason:
      'any change can return it with the header Dry-Run; in 200s it would make the types of clients worse',
    places: ['DryRunResult'],
  },
};

/** The path and method, or the name of the component, of a JSON pointer. */
function placeOf(pointer = ''): string {
  const parts = pointer.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return parts[1] === 'paths' ? parts.slice(2, 4).join(' ') : (parts.at(-1) ?? '');
}

suite('The OpenAPI document', () => {
  test('The OpenAPI document is clean under the recommended rules of Redocly, except for the explained warnings', async () => {
    const problems = await lintFromString({
      source: read('openapi.json'),
      absoluteRef: '/openapi.json',
      config: await createConfig({ extends: ['recommended'] }),
    });
    const found = problems.map(({ ruleId, location }) => `${ruleId}: ${placeOf(location[0]?.pointer)}`);
    const listed = Object.entries(explained).flatMap(([rule, { places }]) =>
      places.map((place) => `${rule}: ${place}`),
    );
    assert.deepEqual(
      found.toSorted(),
      listed.toSorted(),
      'correct the route or schema, or explain the warning in `explained`; remove places that have none any more',
    );
  });
});
