/** Uses of the client that the types must refuse: a line after `@ts-expect-error` that compiles is an error. */
import { Curd, etagOf, isCurdError, type Query } from '@curd/client';
import { clientCredentials, signIn } from '@curd/client/oauth';
import { verify } from '@curd/client/webhooks';

const curd = new Curd({ baseUrl: 'https://shop.example', apiKey: undefined, maxRetries: undefined });
const bern = { street: 'Gerechtigkeitsgasse 1', city: 'Bern', country: 'CH' };

// @ts-expect-error the URL is missing
new Curd({ apiKey: 'k' });
// @ts-expect-error an option that does not exist
new Curd({ baseUrl: 'https://shop.example', key: 'k' });
// @ts-expect-error a number
new Curd({ baseUrl: 'https://shop.example', maxRetries: '3' });
// @ts-expect-error an id is a number
curd.cheeses.get('7');
// @ts-expect-error no id
curd.cheeses.get();
// @ts-expect-error a status that does not exist
curd.cheeses.list({ status: ['fresh'] });
// @ts-expect-error a filter that does not exist
curd.cheeses.list({ color: 'yellow' });
// @ts-expect-error an order of the list that does not exist
curd.cheeses.list({ sort: 'color' });
// @ts-expect-error the name is missing
curd.cheeses.create({ pricePerKg: 20 });
// @ts-expect-error a price is a number
curd.cheeses.create({ name: 'Brie', pricePerKg: '20' });
// @ts-expect-error a status that does not exist
curd.cheeses.update(7, { status: 'eaten' });
// @ts-expect-error a field that does not exist
(await curd.cheeses.get(7)).color;
// @ts-expect-error the price may be absent
(await curd.cheeses.get(7)).pricePerKg.toFixed(2);
// @ts-expect-error the category may be absent
(await curd.cheeses.get(7)).category.name;
// @ts-expect-error facets were not requested
(await curd.cheeses.list()).facets;
// @ts-expect-error filters of a variable may have no facets
(await curd.cheeses.list({} as Query<'listCheeses'>)).facets.status;
// @ts-expect-error a deleted cheese has no name
for await (const change of curd.cheeses.listChanges()) if (change.deleted) change.cheese.name;
// @ts-expect-error the effects are no order
(await curd.orders.place({ items: [], shippingAddress: bern }, { dryRun: 'effects' })).total;
// @ts-expect-error a login cannot be tried
curd.customers.login({ username: 'ada', password: 'secret' }, { dryRun: true });
// @ts-expect-error a page is no array
(await curd.cheeses.list()).map(String);
// @ts-expect-error the shipping address is missing
curd.orders.place({ items: [{ cheeseId: 1, quantity: 1 }] });
// @ts-expect-error the quantity is missing
curd.orders.place({ items: [{ cheeseId: 1 }], shippingAddress: bern });
// @ts-expect-error a country is required
curd.orders.place({ items: [{ cheeseId: 1, quantity: 1 }], shippingAddress: { street: 'a', city: 'b' } });
// @ts-expect-error a status that does not exist
curd.orders.wait(7, { until: 'eaten' });
// @ts-expect-error a deletion returns nothing
(await curd.orders.cancel(7)).id;
// @ts-expect-error a username is a string
curd.customers.get(7);
// @ts-expect-error the password is missing
curd.customers.login({ username: 'ada' });
// @ts-expect-error nothing says how far
curd.sandbox.advanceClock({});
// @ts-expect-error two targets
curd.sandbox.advanceClock({ advance: '1d', to: '2027-01-01T00:00:00Z' });
// @ts-expect-error a category needs a name or an id
curd.cheeses.create({ name: 'Brie', category: {} });
// @ts-expect-error a cheese needs changes
curd.cheeses.update(7);
// @ts-expect-error the order may have no customer
(await curd.orders.getCustomer(7)).username;
// @ts-expect-error an image is a Blob
curd.cheeses.uploadImage(7, 'brie.jpg');
// @ts-expect-error an option that does not exist
curd.cheeses.get(7, { retries: 3 });
// @ts-expect-error a path that does not exist
curd.http.get('/v2/butter', {});
// @ts-expect-error a parameter of the path is missing
curd.http.get('/v2/cheeses/{cheeseId}', {});
// @ts-expect-error the operation does not have this method
curd.http.put('/v2/store/inventory', {});
for await (const event of curd.events.stream({ types: ['order.*'] })) {
  if (event.type === 'order.shipped') {
    // @ts-expect-error the data of another event
    event.data.photoUrls;
  }
  // @ts-expect-error a type that does not exist
  if (event.type === 'order.eaten') {
  }
}
// @ts-expect-error a type that does not exist
curd.events.stream({ types: ['order.eaten'] });
// @ts-expect-error a kind that does not exist
curd.events.stream({ types: ['butter.*'] });
const event = await verify(new Request('https://shop.example/hook'), 'whsec_');
if (event.type === 'customer.deleted') {
  // @ts-expect-error the data has the id only
  event.data.username;
}
// @ts-expect-error a parsed body
await verify({ headers: {}, body: { id: 'evt_AAAA_1' } }, 'whsec_');
// @ts-expect-error no secret
await verify(new Request('https://shop.example/hook'));
// @ts-expect-error the redirect URI is missing
await signIn({ issuer: 'https://shop.example', clientId: 'c', scope: 'read:orders' });
// @ts-expect-error the secret is missing
clientCredentials({ issuer: 'https://shop.example', clientId: 'c', scope: 'read:orders' });
// @ts-expect-error a text has no version
etagOf('text');
const error: unknown = null;
if (isCurdError(error)) {
  // @ts-expect-error a status is a number
  error.status.length;
  // @ts-expect-error a type that does not exist
  error.type === 'not-found';
}
// @ts-expect-error a type that does not exist
isCurdError(error, 'validation');
