/**
 * Names that operators and programs depend on: commands, options, metrics and their labels, members of the limits.
 * Add new names to public-names.json with CURD_TEST_UPDATE=1. Do not remove or rename one: programs depend on it.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { curd } from '../cli/run.ts';
import { openShop } from '../helper.ts';

const file = new URL('public-names.json', import.meta.url);

/** Paths of all members of a JSON value. All elements of an array have the same path. */
function membersOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((one) => membersOf(one, `${path}[]`));
  }
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, one]) => [
        `${path}.${name}`,
        ...membersOf(one, `${path}.${name}`),
      ])
    : [];
}

/** `name{label,label} type`, without the values of labels. */
function metricsOf(text: string): string[] {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
  const series = [...text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)].map(([, name = '', labels = '']) => {
    const labelNames = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label).sort();
    const base = name.replace(/_(bucket|sum|count)$/, '');
    return `${name}{${labelNames}} ${types.get(name) ?? types.get(base)}`;
  });
  return [...new Set(series)].sort();
}

test('Names of commands, options, metrics and limits are unchanged', async (t) => {
  const shop = await openShop(t);
  const completion = await curd({}, 'completion', 'bash');
  const commands = [
    ...completion.stdout.matchAll(/^ {4}'([^']*)'\) commands='([^']*)' options='([^']*)'/gm),
  ].map(([, path, names, options]) => `${path}: ${names} ${options}`);
  // The request creates the metric series of its kind.
  await shop.request('GET', '/v2/cheeses/1', { as: shop.reader });
  const metrics = await shop.request('GET', '/metrics', { as: shop.admin });
  const limits = await shop.request('GET', '/v2/limits', { as: shop.reader });
  const names = {
    commands,
    metrics: metricsOf(metrics.text),
    limits: [...new Set(membersOf(limits.json))],
  };
  assert.ok(
    Object.values(names).every((list) => list.length > 10),
    'the patterns of this test match nothing',
  );
  if (process.env.CURD_TEST_UPDATE === '1') {
    writeFileSync(file, `${JSON.stringify(names, null, 2)}\n`);
  }
  assert.deepEqual(
    names,
    JSON.parse(readFileSync(file, 'utf8')),
    'run this test with CURD_TEST_UPDATE=1 to add names; restore names that are missing, because programs depend on them',
  );
});
