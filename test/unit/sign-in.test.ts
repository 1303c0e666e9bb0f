/** Why PostgreSQL refuses a connection, as operators read it. The CLI test of copies has the refusals of a real server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translatePostgresError } from '../../src/database/postgres/postgres-errors.ts';
import { AppError } from '../../src/errors.ts';

// The server of the tests asks for a password in plain text: with SCRAM, the driver refuses before it sends one.
test('A server that requires a password is named where none was given', () => {
  const cause = new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string');
  const error = Object.assign(new Error('No connection was made.', { cause }), { code: 'NOT_CONNECTED' });
  const translated = translatePostgresError(error);
  assert.ok(translated instanceof AppError);
  assert.match(translated.message, /requires a password\. Write it .* or set PGPASSWORD\./);
});
