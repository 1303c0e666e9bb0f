/** What the extensions assume about oidc-provider, which is pinned to one exact version. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { libraryErrorTexts } from '../../src/auth/oauth/provider/provider-extensions.ts';

const library = new URL('../../node_modules/oidc-provider/lib/', import.meta.url);
const source = globSync('**/*.js', { cwd: library })
  .map((path) => readFileSync(new URL(path, library), 'utf8'))
  .join('\n');

test('oidc-provider throws each text of libraryErrorTexts at exactly one place', () => {
  for (const text of Object.values(libraryErrorTexts)) {
    assert.equal(
      source.split(`new InvalidRequest('${text}')`).length - 1,
      1,
      `oidc-provider changed the text "${text}": update libraryErrorTexts in provider-extensions.ts`,
    );
  }
});

test('package.json pins oidc-provider to an exact version', () => {
  assert.match(packageJson.dependencies['oidc-provider'], /^\d+\.\d+\.\d+$/);
});
