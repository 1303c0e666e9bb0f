/** The checks of an authorization request: their order, and the refusal that they record. */
import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import {
  authorizeChecks,
  findRefusal,
  readAuthorizeRequest,
} from '../../src/auth/oauth/provider/authorize-request.ts';
import { openShop, shared } from '../helper.ts';
import { newApplication } from './flow.ts';

const shop = shared((t) => openShop(t));

/** The query that the library gets, and the refusal. */
async function check(query: string) {
  const request = new IncomingMessage(new Socket());
  const { database } = shop().app;
  const translated = String(await readAuthorizeRequest(request, query, database));
  return { query: decodeURIComponent(translated), refusal: findRefusal(request) };
}

test('The checks of an authorization request run in a fixed order', () => {
  assert.deepEqual(
    authorizeChecks.map(({ name }) => name),
    [
      'dropParametersNotOffered',
      'setDefaultScope',
      'leaveRepeatedResponseMode',
      'refuseResponseModeOfOtherFlow',
      'refuseUnregisteredFlow',
      'refuseUnknownScopes',
      'refuseResourceOfFlow',
      'refuseAdminInImplicitFlow',
      'translateImplicitFlow',
    ],
  );
});

test('The first refusal of an authorization request counts, and the implicit flow is translated all the same', async () => {
  const { clientId } = await newApplication(shop());
  assert.deepEqual(await check(`client_id=${clientId}&response_type=token&scope=admin+nonsense`), {
    query: `client_id=${clientId}&response_type=code&scope=admin+nonsense&response_mode=x-implicit`,
    refusal: { error: 'unauthorized_client' },
  });
  assert.deepEqual((await check('response_type=token&scope=admin+nonsense')).refusal, {
    error: 'invalid_scope',
    scope: 'nonsense',
  });
  assert.deepEqual((await check('response_type=token&scope=admin')).refusal, {
    error: 'invalid_scope',
    scope: 'admin',
  });
});

test('A valid authorization request has no refusal, and gets the default scope', async () => {
  const { clientId } = await newApplication(shop());
  assert.deepEqual(await check(`client_id=${clientId}&response_type=code&nonce=1&claims=2`), {
    query: `client_id=${clientId}&response_type=code&scope=read:cheeses`,
    refusal: undefined,
  });
});

test('A repeated response_mode is left to the library, which refuses it', async () => {
  const query = 'response_type=token&scope=admin&response_mode=query&response_mode=fragment';
  assert.deepEqual(await check(query), { query, refusal: undefined });
});
