/** The event log: its numbers have no gaps, so no event with a number is deleted but by the retention. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { filesIn, placesOf, read } from './sources.ts';

/** Statements that delete events, by file, with what each must contain. */
const deletions: Readonly<Record<string, RegExp>> = {
  // Test orders and events from before the log.
  'src/event-log/queries.ts': /^delete from event where sequence = 0 and /,
  // From the beginning of the log on: retention.ts moves it in the same transaction.
  'src/event-log/log-queries.ts': /^delete from event where sequence >= .* and sequence < /,
};

const statementsIn = (path: string) =>
  [...read(path).matchAll(/sql`([^`]*)`/g)].map(([, text = '']) => text.replace(/\s+/g, ' ').trim());

suite('Events', () => {
  test('Events are deleted by the listed statements only', () => {
    for (const [path, pattern] of Object.entries(deletions)) {
      const found = statementsIn(path).filter((text) => /^delete from event\b/.test(text));
      assert.equal(found.length, 1, path);
      assert.match(found[0] ?? '', pattern, path);
    }
    const others = [
      ...placesOf(/\bdelete from event\b/, Object.keys(deletions)),
      ...placesOf(/\b(deleteInOrder|deleteUnlocked|deleteSlice)\(\s*'event'/, []),
    ];
    assert.deepEqual(others, [], 'a number of the event log must never be missing: do not delete events');
    const migrations = filesIn('migrations/*.sql').filter((path) => /\bdelete from event\b/.test(read(path)));
    assert.deepEqual(migrations, [], 'a migration must not delete events');
  });

  test('Events with a number are deleted by the retention only', () => {
    assert.deepEqual(
      placesOf(/\bdeleteEvents\b/, ['src/event-log/log-queries.ts', 'src/event-log/retention.ts']),
      [],
      'leave the deletion to src/event-log/retention.ts',
    );
  });

  test('Events have numbers that only passes, transactions of changes and repairs give', () => {
    assert.deepEqual(
      placesOf(/\bupdate event set\b.*\bsequence\b/, ['src/event-log/log-queries.ts']),
      [],
      'leave the numbers to src/event-log/numbering.ts',
    );
    assert.deepEqual(
      placesOf(/\beventQueries\(tx\)\.insert\b/, ['src/event-log/record.ts', 'src/event-log/repair.ts']),
      [],
      'call recordEvents of src/event-log/record.ts',
    );
    const insert = /\binto event\b|[iI]nsert\(\s*'event'/;
    assert.deepEqual(
      placesOf(insert, ['src/event-log/queries.ts']),
      [],
      'call recordEvents of src/event-log/record.ts',
    );
  });
});
