/**
 * A day in a cheese shop, over HTTP: the shop counts its stock; a customer registers, lists cheeses, gets a quote, orders,
 * and becomes silver; another order is canceled, and at the end the customer is deleted. Needs a running server and a key
 * with the scope admin:
 *
 *     ADMIN=${ADMIN:-$(npx curd keys create --account local --scope admin)}
 *     KEY=$ADMIN node examples/shop-day.js [http://127.0.0.1:8080]
 *
 * Without an argument it uses CURD_PUBLIC_URL or CURD_PORT, as the server does.
 */
const { CURD_PORT, CURD_PUBLIC_URL } = process.env;
const server = process.argv[2] || CURD_PUBLIC_URL || `http://127.0.0.1:${CURD_PORT || 8080}`;
const shop = `${server.replace(/\/$/, '')}/v2`;
const key = process.env.KEY;
if (!key) {
  console.error('Set KEY to an API key with the scopes write:cheeses, write:orders and admin.');
  process.exit(1);
}

/** Sends one request. @throws Error with the response when it is not 2xx */
async function call(method, path, { body, token, asShop = true, dryRun = false } = {}) {
  const response = await fetch(shop + path, {
    method,
    headers: {
      ...(asShop ? { 'X-API-Key': key } : {}),
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(dryRun ? { 'Dry-Run': 'true' } : {}),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${method} ${path} returned ${response.status}: ${text}`);
  }
  return text === '' ? null : JSON.parse(text);
}

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const dollars = (amount) => `$${amount.toFixed(2)}`;

const username = `ada-${Date.now().toString(36)}`;
const password = 'correct horse battery staple';
const shippingAddress = { street: 'Gerechtigkeitsgasse 1', city: 'Bern', zipCode: '3011', country: 'CH' };

// Registration and login need no credential.
const ada = await call('POST', '/customer', {
  body: { username, email: `${username}@example.com`, password, firstName: 'Ada' },
  asShop: false,
});
console.log(`Ada registers and is ${ada.customerStatus}.`);
const { token } = await call('POST', '/customer/login', { body: { username, password }, asShop: false });
console.log('She logs in; the session is good for 24 hours.');

const { items: cheeses, total } = await call('GET', '/cheeses?category=Hard&status=available&limit=2');
console.log(`Of ${total} hard cheeses she picks ${cheeses.map(({ name }) => name).join(' and ')}.`);

const [first] = cheeses;
const stock = `/cheeses/${first.id}/stock`;
const { available } = await call('PUT', stock, { body: { onHand: 15, lowAt: 5 } });
console.log(`The shop counts its ${first.name}: ${available} kg are available.`);

// A dry run of the order is a quote. Nothing is ordered or reserved.
const items = cheeses.map(({ id }) => ({ cheeseId: id, quantity: 10 }));
const quote = await call('POST', '/store/order', { body: { items, shippingAddress }, token, dryRun: true });
console.log(`She gets a quote for ten kilograms of each: ${dollars(quote.total)}.`);

// The API key of the shop permits the order. The session names the customer.
let order = await call('POST', '/store/order', { body: { items, shippingAddress }, token });
const { reserved } = await call('GET', stock);
console.log(`She orders it: the order is ${order.status}, and ${reserved} kg of ${first.name} are reserved.`);
while (order.status === 'placed') {
  await sleep(200);
  order = await call('GET', `/store/order/${order.id}`);
}
console.log(
  `A moment later it is ${order.status}, and will ship ${order.shipDate === null ? 'never' : 'in two days'}.`,
);
for (const step of ['ship', 'deliver']) {
  order = await call('POST', `/store/order/${order.id}/${step}`);
  console.log(`The shop says "${step}": the order is ${order.status}.`);
}
const left = await call('GET', stock);
console.log(`${left.onHand} kg of ${first.name} are left, so the shop has to order more.`);
const profile = await call('GET', `/customer/${username}`, { token, asShop: false });
console.log(`Ada is ${profile.customerStatus} now.`);

const second = await call('POST', '/store/order', {
  body: { items: [{ cheeseId: first.id, quantity: 1 }], shippingAddress },
  token,
});
await call('DELETE', `/store/order/${second.id}`);
const cancelled = await call('GET', `/store/order/${second.id}`);
console.log(`She orders once more, and thinks better of it: that order is ${cancelled.status}.`);

// The session alone lists the customer's own orders, the newest first.
const own = await call('GET', `/customer/${username}/orders`, { token, asShop: false });
console.log(`Her list has ${own.total} orders: ${own.items.map(({ status }) => status).join(', ')}.`);

const { items: timeline } = await call('GET', `/store/order/${order.id}/timeline`);
console.log(`What happened to the first one: ${timeline.map(({ status }) => status).join(', ')}.`);

await call('DELETE', `/customer/${username}`, { token, asShop: false });
const kept = await call('GET', `/store/order/${order.id}`);
console.log(
  `She deletes her account. The shop keeps the order for its books, ${dollars(kept.total)} to ${kept.shippingAddress.country}, without her name or street.`,
);
await call('DELETE', stock);
