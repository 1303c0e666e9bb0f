/**
 * A day in a cheese shop, over HTTP: a customer registers, lists cheeses, orders, and becomes silver; another order is
 * canceled, and at the end the customer is deleted. Needs a running server and a key with these scopes:
 *
 *     WRITER=$(npx curd keys create --account local --scope "write:cheeses write:orders admin")   # unless set
 *     KEY=$WRITER node examples/shop-day.js [http://127.0.0.1:8080]
 *
 * Without an argument it uses CURD_PUBLIC_URL or CURD_PORT, as the server does.
 */
const { CURD_PORT, CURD_PUBLIC_URL } = process.env;
const server = process.argv[2] || CURD_PUBLIC_URL || `http://127.0.0.1:${CURD_PORT || 8080}`;
const shop = `${server.replace(/\/$/, '')}/v2`;
const key = process.env.KEY;
if (key === undefined) {
  console.error('Set KEY to an API key with the scopes write:orders and admin.');
  process.exit(1);
}

/** Sends one request. @throws Error with the response when it is not 2xx */
async function call(method, path, { body, token, asShop = true } = {}) {
  const response = await fetch(shop + path, {
    method,
    headers: {
      ...(asShop ? { 'X-API-Key': key } : {}),
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
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

// The API key of the shop permits the order. The session names the customer.
const items = cheeses.map(({ id }) => ({ cheeseId: id, quantity: 10 }));
let order = await call('POST', '/store/order', { body: { items, shippingAddress }, token });
console.log(`She orders ten kilograms of each for ${dollars(order.total)}: the order is ${order.status}.`);
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
const profile = await call('GET', `/customer/${username}`, { token, asShop: false });
console.log(`Ada is ${profile.customerStatus} now.`);

const second = await call('POST', '/store/order', {
  body: { items: [{ cheeseId: cheeses[0].id, quantity: 1 }], shippingAddress },
  token,
});
await call('DELETE', `/store/order/${second.id}`);
const cancelled = await call('GET', `/store/order/${second.id}`);
console.log(`She orders once more, and thinks better of it: that order is ${cancelled.status}.`);

const { items: timeline } = await call('GET', `/store/order/${order.id}/timeline`);
console.log(`What happened to the first one: ${timeline.map(({ status }) => status).join(', ')}.`);

await call('DELETE', `/customer/${username}`, { token, asShop: false });
const kept = await call('GET', `/store/order/${order.id}`);
console.log(
  `She deletes her account. The shop keeps the order for its books, ${dollars(kept.total)} to ${kept.shippingAddress.country}, without her name or street.`,
);
