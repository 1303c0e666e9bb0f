/**
 * A shop that is this page alone: a catalogue with search and filters, a basket, a login, orders and their progress. Its
 * requests go to a Curd server on another host, with a publishable key. config.js says where it is.
 *
 * Serve this folder as static files, for example: npx http-server examples/browser-shop -p 8090
 */
import { loadCheeses, showCheese } from './catalogue.js';
import { countryName, offerCountries } from './countries.js';
import { breakdownRows, showDelivery } from './delivery.js';
import {
  basket,
  explain,
  explainFields,
  find,
  isCurdError,
  make,
  money,
  notify,
  onSubmit,
  quantityMax,
  quantityText,
  setLine,
  shop,
  showBasketSize,
  showCustomer,
  submit,
  time,
} from './page.js';

const pollMs = 3000;
const statusTexts = {
  placed: 'We have your order.',
  approved: 'Your order is being packed.',
  shipped: 'Your order is on its way.',
  delivered: 'Your order has arrived.',
  cancelled: 'Your order was cancelled.',
};

// The basket and the order.

const checkout = find('#checkout');

function showBasket() {
  const isUnconfirmed = shop.orders.unconfirmed !== null;
  find('#unconfirmed').hidden = !isUnconfirmed;
  find('#empty').hidden = isUnconfirmed || basket.size > 0;
  checkout.hidden = isUnconfirmed || basket.size === 0;
  const lines = [...basket.values()].map((line) => {
    const { cheeseId, name, grams, quantity, price = 0 } = line;
    const change = (value) => {
      setLine(line, value);
      showBasket();
    };
    const input = make('input', {
      ...{
        type: 'number',
        inputMode: 'numeric',
        min: 1,
        max: quantityMax,
        value: quantity,
        required: true,
      },
      label: grams === undefined ? `Kilograms of ${name}` : `Pieces of ${grams} g of ${name}`,
      onchange: () => input.reportValidity() && change(input.valueAsNumber),
    });
    const remove = {
      type: 'button',
      textContent: 'Remove',
      label: `Remove ${name}`,
      onclick: () => change(0),
    };
    const link = make('a', { href: `#/cheese/${cheeseId}`, textContent: name });
    const text = make('span', { className: 'quiet', textContent: priceText(grams, price, price * quantity) });
    return make('li', {}, link, input, make('button', remove), text);
  });
  find('#lines').replaceChildren(...lines);
  showQuote();
}

/** What a line costs. */
const amountOf = ({ amount, quantity, pricePerKg }) => amount ?? quantity * pricePerKg;

function priceText(grams, price, amount) {
  const each = grams === undefined ? 'per kg' : `for ${grams} g`;
  return `${money.format(price)} ${each}, together ${money.format(amount)}`;
}

function orderOf() {
  const { deliveryMethodId, discountCode, ...address } = Object.fromEntries(new FormData(checkout));
  return {
    items: [...basket.values()].map(({ cheeseId, quantity, grams }) => ({ cheeseId, quantity, grams })),
    shippingAddress: Object.fromEntries(Object.entries(address).filter(([, text]) => text !== '')),
    ...(deliveryMethodId ? { deliveryMethodId: Number(deliveryMethodId) } : {}),
    ...(discountCode ? { discountCode } : {}),
  };
}

let quoting = new AbortController();

/** What the order would cost, also before a login: current prices and stock. Nothing is ordered or reserved. */
async function showQuote() {
  quoting.abort();
  quoting = new AbortController();
  const { signal } = quoting;
  const total = find('#total');
  const problem = checkout.querySelector('.problem');
  problem.replaceChildren();
  checkout.querySelector('.main').disabled = shop.username === null;
  if (checkout.hidden) {
    return;
  }
  try {
    const wished = orderOf();
    const { country, zipCode } = wished.shippingAddress;
    const quote = await shop.orders.quote({ ...wished, shippingAddress: { country, zipCode } }, { signal });
    total.textContent = `Total: ${money.format(quote.total)}`;
    if (shop.username === null) {
      const link = make('a', { href: '#/account', textContent: 'Log in or register' });
      total.append('. ', link, ' to order.');
    }
    find('#breakdown').textContent = breakdownRows(quote.breakdown)
      .map((cells) => cells.join(' '))
      .join(' · ');
    // Without a line that can be ordered there are no options. The choice is kept.
    if (quote.items.some(({ orderable }) => orderable)) {
      showDelivery(quote.deliveryOptions, quote.breakdown.delivery?.id);
    }
    problem.replaceChildren(
      ...explainFields(quote.problems).map((textContent) => make('p', { textContent })),
    );
    for (const [index, line] of quote.items.entries()) {
      const text = find('#lines').children[index].querySelector('.quiet');
      text.textContent = priceText(line.grams, line.unitPrice ?? line.pricePerKg, amountOf(line));
    }
  } catch (error) {
    if (!signal.aborted) {
      total.textContent = '';
      problem.replaceChildren(...explain(error).map((textContent) => make('p', { textContent })));
    }
  }
}

checkout.addEventListener('change', showQuote);

onSubmit(checkout, async () => {
  quoting.abort();
  try {
    completeOrder(await shop.orders.place(orderOf()));
  } catch (error) {
    // Nobody knows whether the order was placed: the page offers to ask again, and nothing else.
    if (shop.orders.unconfirmed !== null) {
      showBasket();
    }
    throw error;
  }
});

/** Asks what became of the order whose response a reload or a lost connection has cost. */
const resume = () =>
  submit(find('#unconfirmed'), async () => {
    try {
      const order = await shop.orders.resume();
      if (order !== null) {
        completeOrder(order);
      }
    } finally {
      showBasket();
    }
  });
find('#resume').addEventListener('click', resume);

async function resumeIfUnconfirmed() {
  if (shop.orders.unconfirmed !== null) {
    goTo('#/basket');
    await resume();
  }
}

function completeOrder({ id, items }) {
  for (const line of items) {
    setLine(line, 0);
  }
  goTo(`#/order/${id}`, `Thank you! Your order ${id} is placed.`);
}

// The customer.

async function logIn({ username, password }) {
  await shop.login({ username, password });
  showCustomer();
  goTo(basket.size > 0 ? '#/basket' : '#/', `Welcome, ${username}.`);
  await resumeIfUnconfirmed();
}

onSubmit(find('#login'), logIn);
onSubmit(find('#register'), async (customer) => {
  await shop.register(customer);
  await logIn(customer);
});
onSubmit(find('#forgotten'), async ({ email }) => {
  await shop.requestPasswordReset({ email });
  notify('If there is an account with this address, a mail with a link is on its way.');
});
find('#log-out').addEventListener('click', () =>
  submit(find('#logged-in'), async () => {
    try {
      await shop.logout();
    } finally {
      for (const form of [checkout, find('#login'), find('#register')]) {
        form.reset();
      }
      showCustomer();
      notify('You are logged out.');
    }
  }),
);

// Orders of the customer, and their progress.

async function showOrders() {
  const { items } = await shop.orders.list({ limit: 50 });
  if (!isNews(find('#orders'), items)) {
    return items.some(isOpen);
  }
  const lines = items.map(({ id, items: bought, total, status, createdAt }) => {
    const what = bought.map((line) => `${quantityText(line)} ${line.cheeseName}`).join(', ');
    return make(
      'li',
      {},
      make('a', { href: `#/order/${id}`, textContent: `Order ${id}` }),
      make('span', { textContent: money.format(total) }),
      make('span', {
        className: 'quiet',
        textContent: `${time.format(new Date(createdAt))}, ${status}: ${what}`,
      }),
    );
  });
  find('#order-list').replaceChildren(
    ...(lines.length > 0 ? lines : [make('li', { textContent: 'You have not ordered yet.' })]),
  );
  return items.some(isOpen);
}

/** The same content is not shown again: it would take the focus, and screen readers would repeat it. */
function isNews(section, content) {
  const text = JSON.stringify([shop.username, content]);
  const isNew = section.dataset.content !== text;
  section.dataset.content = text;
  return isNew;
}

const isOpen = ({ status }) => status !== 'delivered' && status !== 'cancelled';

async function showOrder(id) {
  const section = find('#order');
  const [order, timeline] = await Promise.all([
    shop.orders.get(Number(id)),
    shop.orders.getTimeline(Number(id)),
  ]);
  if (!isNews(section, [order, timeline])) {
    return isOpen(order);
  }
  const { items, total, status, shippingAddress } = order;
  section.querySelector('h1').textContent = `Order ${order.id}`;
  const isReady = status === 'shipped' && order.breakdown?.delivery?.kind === 'pickup';
  section.querySelector('.status').textContent = isReady
    ? 'Your order is ready for pickup.'
    : statusTexts[status];
  const entries = timeline.items.map(({ status: reached, at, reason, shipment }) => {
    const details = [time.format(new Date(at)), reason, shipment?.carrier, shipment?.trackingNumber];
    const text = make('div', { className: 'quiet', textContent: details.filter(Boolean).join(', ') });
    return make('li', {}, reached[0].toUpperCase() + reached.slice(1), text);
  });
  find('#timeline').replaceChildren(...entries);
  const row = (...cells) => make('tr', {}, ...cells.map((textContent) => make('td', { textContent })));
  const rows = items.map((line) => row(line.cheeseName, quantityText(line), money.format(amountOf(line))));
  section.querySelector('tbody').replaceChildren(...rows);
  section
    .querySelector('tfoot')
    .replaceChildren(
      ...breakdownRows(order.breakdown ?? {}).map(([what, amount]) => row(what, '', amount)),
      row('Total', '', money.format(total)),
    );
  const { name, street, zipCode, city, country } = shippingAddress;
  const place = [zipCode, city].filter(Boolean).join(' ');
  section.querySelector('.destination').textContent =
    `To: ${name ? `${name}, ` : ''}${street}, ${place}, ${countryName(country)}`;
  find('#cancel').hidden = status !== 'placed' && status !== 'approved';
  find('#cancel').onclick = () =>
    submit(section, async () => {
      await shop.orders.cancel(order.id);
      await showOrder(order.id);
    });
  return isOpen(order);
}

// Views. The part after # names one: #/order/31.

const views = {
  '': { section: find('#list') },
  cheese: { section: find('#cheese'), show: showCheese },
  basket: { section: find('#basket'), show: showBasket },
  account: { section: find('#account'), show: showCustomer },
  orders: { section: find('#orders'), show: showOrders, needsLogin: true },
  order: { section: find('#order'), show: showOrder, needsLogin: true },
};
let visit = 0;
let nextNotice = '';
let hasEntered = false;
let openedHash = null;

/** Opens a view, and shows a notice there. */
function goTo(hash, notice = '') {
  if (location.hash === hash) {
    notify(notice);
  } else {
    nextNotice = notice;
    location.hash = hash;
  }
}

async function openView() {
  if (location.hash !== '' && !location.hash.startsWith('#/')) {
    return; // a place in the page
  }
  if (location.hash === openedHash) {
    return; // of two changes in a row, the first event opened the second view
  }
  openedHash = location.hash;
  const [, name = '', id] = location.hash.split('/');
  const view = views[name] ?? views[''];
  visit += 1;
  notify(nextNotice);
  nextNotice = '';
  if (view.needsLogin && shop.username === null) {
    goTo('#/account', 'Log in to see your orders.');
    return;
  }
  await refresh(view, id, visit, true);
}

/** Shows a view, and again after a while where `show` says that it can change. Another view ends that. */
async function refresh(view, id, current, isFirst) {
  let isChanging = false;
  let failure = null;
  try {
    isChanging = (document.hidden && !isFirst) || (await view.show?.(id)) === true;
  } catch (error) {
    // A lost connection does not end the updates.
    isChanging = !isFirst && isCurdError(error, 'connection_failed');
    failure = explain(error).join(' ');
  }
  if (current !== visit) {
    return;
  }
  if (failure !== null) {
    notify(failure);
  }
  if (isFirst && (failure === null || !hasEntered)) {
    enter(failure === null ? view : views['']);
  }
  if (isChanging) {
    setTimeout(() => current === visit && refresh(view, id, current, false), pollMs);
  }
}

function enter({ section }) {
  for (const { section: other } of Object.values(views)) {
    other.hidden = other !== section;
  }
  for (const link of document.querySelectorAll('nav a')) {
    link.ariaCurrent = link.hash === location.hash ? 'page' : null;
  }
  const heading = section.querySelector('h1');
  document.title = `${heading.textContent} – Rind`;
  if (hasEntered) {
    scrollTo(0, 0);
    heading.focus();
  }
  hasEntered = true;
}

addEventListener('hashchange', openView);
// On a phone, the cheeses come first.
find('#more-filters').open = matchMedia('(min-width: 52rem)').matches;
offerCountries(checkout.elements.country);
showCustomer();
showBasketSize();
loadCheeses();
await openView();
await resumeIfUnconfirmed();
