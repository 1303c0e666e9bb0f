/** What the console calls actors and subjects of events, and how it shortens ids and ages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shorten, showAge } from '../../console/src/parts/text/format.ts';
import {
  describeActor,
  describeSubject,
  listMentions,
  mentionOfSubject,
} from '../../console/src/parts/text/mentions.ts';

const longId = 'mob_8FqK2xTzR4wLpN7vYcD1';

test('An actor is named by its parts', () => {
  const table: [actor: string, mentions: string[], names: (string | null)[], text: string][] = [
    ['key:2', ['key:2'], ['Web shop'], 'Web shop'],
    ['key:2', ['key:2'], [null], 'key 2'],
    ['customer:5', ['customer:5'], ['ada'], 'ada'],
    ['client:console', [], [], 'operator'],
    ['client:console/customer:5', ['client:console', 'customer:5'], ['Console', 'ada'], 'ada (Console)'],
    [
      `client:${longId}/customer:5`,
      [`client:${longId}`, 'customer:5'],
      [null, null],
      'customer 5 (client mob_8FqK2xTzR4…YcD1)',
    ],
    ['system', [], [], 'system'],
    ['cli', [], [], 'command line'],
    ['anonymous', [], [], 'anonymous'],
    ['test', [], [], 'test'],
  ];
  for (const [actor, mentions, names, text] of table) {
    assert.deepEqual(listMentions(actor), mentions, actor);
    assert.equal(describeActor(actor, names), text, actor);
  }
});

test('A subject is named where its id says nothing', () => {
  assert.equal(mentionOfSubject('api_key:2'), 'key:2');
  assert.equal(mentionOfSubject(`oauth_client:${longId}`), `client:${longId}`);
  assert.equal(mentionOfSubject('customer:5'), 'customer:5');
  assert.equal(mentionOfSubject('order:31'), null);
  assert.equal(describeSubject('order:31', null), 'order 31');
  assert.equal(describeSubject('webhook_endpoint:1', null), 'webhook endpoint 1');
  assert.equal(describeSubject('customer:5', 'ada'), 'customer ada');
  assert.equal(describeSubject(`oauth_client:${longId}`, null), 'oauth client mob_8FqK2xTzR4…YcD1');
});

test('A long id is shortened to its ends, and a short one is not', () => {
  assert.equal(shorten('console'), 'console');
  assert.equal(shorten('a'.repeat(20)), 'a'.repeat(20));
  assert.equal(shorten(longId).length, 19);
});

test('An age has no seconds, which would differ from row to row', () => {
  const now = Date.parse('2026-11-23T12:00:00Z');
  const ageOf = (seconds: number) => showAge(new Date(now - seconds * 1000).toISOString(), now);
  assert.deepEqual([-5, 0, 14, 59].map(ageOf), ['now', 'now', 'now', 'now']);
  assert.match(ageOf(61), /^1\s?m/);
  assert.match(ageOf(3 * 3600), /^3\s?h/);
});
