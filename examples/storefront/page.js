/** The page of the storefront. Its requests go to serve.js, which adds the credentials. */
import { Curd, isCurdError, thumbnailOf } from '@curd/client';
import { offerCountries } from './countries.js';
import { breakdownText, optionText } from './delivery.js';

const curd = new Curd({ baseUrl: location.origin });
const facetTitles = { category: 'Category', tags: 'Milk and more', origin: 'Origin', organic: 'Organic' };
const find = (selector) => document.querySelector(selector);
const { currency } = await curd.shop.get().catch((error) => {
  find('#count').textContent = 'The shop cannot be reached. Reload the page in a minute.';
  throw error;
});
const money = new Intl.NumberFormat('en-US', { style: 'currency', currency });

/** The basket survives a reload; it contains nothing secret. By cheese and weight of the piece: a line with its quantity. */
const basket = new Map(JSON.parse(localStorage.getItem('basket') ?? '[]'));
/** Only a name, for the page. The cookie of serve.js, which scripts cannot read, decides who the customer is. */
let username = localStorage.getItem('username');

/** Makes an element. Text is never read as HTML. */
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** An error in words, one for each invalid field. */
function wordsOf(error) {
  if (isCurdError(error, 'unauthorized') && username !== null) {
    setCustomer(null);
    return ['Your login has ended. Log in again.'];
  }
  if (isCurdError(error, 'rate_limit_exceeded')) {
    return [`The shop is busy. Try again in ${Math.ceil(error.retryAfterSeconds ?? 60)} seconds.`];
  }
  if (isCurdError(error, 'connection_failed')) {
    return ['The shop cannot be reached. Check your connection.'];
  }
  return isCurdError(error) && error.status === 422
    ? error.errors.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
    : [error.message.replace(/ \[[\w-]+\]$/, '')]; // without the request id, which is for operators
}

/** Runs the request of a form, with its button disabled, and shows the error in the form. */
async function submit(form, run) {
  const problem = form.querySelector('.problem');
  const button = form.querySelector('button');
  problem.replaceChildren();
  button.disabled = true;
  try {
    await run(Object.fromEntries(new FormData(form)));
  } catch (error) {
    problem.textContent = wordsOf(error).join(' ');
  } finally {
    button.disabled = false;
  }
}

// The catalogue.

const filters = find('#filters');
let listing = new AbortController();
let nextCursor;

function chosenFilters() {
  const data = new FormData(filters);
  const text = (name) => data.get(name) || undefined;
  return {
    status: ['available'],
    q: text('q')?.trim() || undefined,
    sort: text('sort'),
    category: text('category'),
    tags: data.getAll('tags').length > 0 ? data.getAll('tags') : undefined,
    origin: text('origin'),
    organic: data.has('organic') ? data.get('organic') === 'true' : undefined,
  };
}

/** Shows the first page, or adds the next one. A newer request replaces one that still runs. */
async function showCheeses(cursor) {
  listing.abort();
  listing = new AbortController();
  const { signal } = listing;
  try {
    const facets = cursor === undefined ? Object.keys(facetTitles) : undefined;
    const page = await curd.cheeses.list({ ...chosenFilters(), limit: 24, cursor, facets }, { signal });
    const cards = page.items.map(cardOf);
    if (cursor === undefined) {
      find('#cheeses').replaceChildren(...cards);
      showFacets(page.facets);
    } else {
      find('#cheeses').append(...cards);
    }
    nextCursor = page.nextCursor;
    find('#count').textContent = page.total === 1 ? '1 cheese' : `${page.total} cheeses`;
    find('#more').hidden = !page.hasMore;
  } catch (error) {
    if (!signal.aborted) {
      find('#count').textContent = wordsOf(error).join(' ');
    }
  }
}

const showAge = (months) => ({ 0: 'under 1 month', 1: '1 month' })[months] ?? `${months} months`;

function factsOf({ category, origin, ageMonths, organic }) {
  const age = ageMonths === undefined ? undefined : showAge(ageMonths);
  return [category?.name, origin, age, organic ? 'organic' : undefined].filter(Boolean).join(' · ');
}

function cardOf(cheese) {
  const { id, name, pricePerKg, photoUrls = [], portions = [] } = cheese;
  const [photo] = photoUrls;
  // The name is beside it, so the image has no text of its own.
  const image = photo
    ? element('img', { src: thumbnailOf(photo), alt: '', loading: 'lazy' })
    : element('div', { className: 'blank' });
  const add = element('button', {
    type: 'button',
    textContent: portions.length > 0 ? 'Choose' : 'Add',
    onclick: () =>
      portions.length > 0 ? showCheese(cheese) : addOne({ cheeseId: id, name, price: pricePerKg }),
  });
  const label = portions.length > 0 ? `Choose a piece of ${name}` : `Add 1 kg of ${name} to the basket`;
  add.setAttribute('aria-label', label);
  add.disabled = pricePerKg === undefined;
  const text = element(
    'div',
    { className: 'text' },
    element('button', {
      type: 'button',
      className: 'name',
      textContent: name,
      onclick: () => showCheese(cheese),
    }),
    element('p', { className: 'facts', textContent: factsOf(cheese) }),
    element('span', {
      className: 'price',
      textContent: pricePerKg === undefined ? 'no price yet' : `${money.format(pricePerKg)} / kg`,
    }),
    add,
  );
  return element('li', {}, image, text);
}

/** One group of choices for each facet. Tags can be combined; of the others, one is chosen. */
function showFacets(facets) {
  const data = new FormData(filters);
  const focused = document.activeElement?.dataset?.choice;
  const groups = Object.entries(facetTitles).flatMap(([name, title]) => {
    const chosen = data.getAll(name);
    if (facets[name].values.length === 0 && chosen.length === 0) {
      return [];
    }
    const type = name === 'tags' ? 'checkbox' : 'radio';
    const choices = [...facets[name].values];
    // A chosen value stays visible when no cheese has it under the other filters.
    for (const value of chosen.filter(
      (one) => one !== '' && !choices.some((choice) => choice.value === one),
    )) {
      choices.unshift({ value, count: 0 });
    }
    if (type === 'radio') {
      choices.unshift({ value: '', count: null });
    }
    const labels = choices.map(({ value, count }) => {
      const checked = chosen.includes(value) || (value === '' && chosen.length === 0);
      const input = element('input', { type, name, value, checked });
      input.dataset.choice = `${name}=${value}`;
      const text = { '': 'All', true: 'Yes', false: 'No' }[value] ?? value;
      return element('label', {}, input, text, element('span', { textContent: count ?? '' }));
    });
    const group = element('fieldset', {}, element('legend', { textContent: title }));
    group.append(element('div', { className: 'scroll' }, ...labels));
    return [group];
  });
  find('#facet-list').replaceChildren(...groups);
  if (focused !== undefined) {
    find(`[data-choice="${CSS.escape(focused)}"]`)?.focus();
  }
}

let typing;
filters.addEventListener('input', ({ target }) => {
  clearTimeout(typing);
  typing = setTimeout(() => showCheeses(), target.name === 'q' ? 250 : 0);
});
filters.addEventListener('submit', (event) => event.preventDefault());
find('#more').addEventListener('click', () => showCheeses(nextCursor));

/** A cheese with its largest image. */
async function showCheese(cheese) {
  find('#cheese-name').textContent = cheese.name;
  find('#cheese-facts').textContent = factsOf(cheese);
  find('#cheese-figure').replaceChildren();
  find('#cheese-add').replaceChildren();
  find('#cheese').showModal();
  const [{ items }, { portions = [] }] = await Promise.all([
    curd.cheeses.listImages(cheese.id).catch(() => ({ items: [] })),
    curd.cheeses.getAvailability(cheese.id).catch(() => ({})),
  ]);
  if (cheese.pricePerKg !== undefined && find('#cheese-name').textContent === cheese.name) {
    find('#cheese-add').replaceChildren(...addButtons(cheese, portions));
  }
  const image = items.find(({ isPrimary }) => isPrimary) ?? items[0];
  const src = image?.imageUrl ?? cheese.photoUrls?.[0];
  if (src !== undefined && find('#cheese-name').textContent === cheese.name) {
    const caption = image?.caption ?? '';
    find('#cheese-figure').replaceChildren(
      element('img', { src, alt: cheese.name }),
      element('figcaption', { textContent: caption }),
    );
  }
}

/** A button for each piece in which a cheese is sold, or one for a kilogram. */
function addButtons({ id, name, pricePerKg }, portions) {
  const buttonOf = (line, textContent, disabled = false) =>
    element('button', {
      ...{ type: 'button', className: 'strong', textContent, disabled },
      onclick: () => {
        addOne({ cheeseId: id, name, ...line });
        find('#cheese').close();
      },
    });
  return portions.length === 0
    ? [buttonOf({ price: pricePerKg }, 'Add 1 kg to the basket')]
    : portions.map(({ grams, name: portionName, price, quantity }) => {
        const what = portionName === undefined ? `${grams} g` : `${portionName}, ${grams} g`;
        return buttonOf({ grams, portionName, price }, `Add ${what}: ${money.format(price)}`, quantity === 0);
      });
}

// The customer.

function setCustomer(name) {
  username = name;
  if (name === null) {
    localStorage.removeItem('username');
  } else {
    localStorage.setItem('username', name);
  }
  find('#open-account').textContent = name === null ? 'Log in' : `Log out ${name}`;
  find('#open-orders').hidden = name === null;
}

async function logIn(name, password) {
  await curd.customers.login({ username: name, password });
  setCustomer(name);
  find('#account').close();
}

find('#open-account').addEventListener('click', async () => {
  if (username === null) {
    find('#account').showModal();
    return;
  }
  await curd.customers.logoutSafely().catch(() => undefined);
  setCustomer(null);
});
find('#login').addEventListener('submit', (event) => {
  event.preventDefault();
  submit(event.target, async ({ username: name, password }) => logIn(name, password));
});
find('#register').addEventListener('submit', (event) => {
  event.preventDefault();
  submit(event.target, async (customer) => {
    await curd.customers.register(customer);
    await logIn(customer.username, customer.password);
  });
});

// The basket.

const keyOf = ({ cheeseId, grams = 'kg' }) => `${cheeseId} ${grams}`;
const addOne = (line) => setLine(line, (basket.get(keyOf(line))?.quantity ?? 0) + 1);

/** "3 × 200 g", or "2 kg" of a cheese without portions. */
function quantityText({ quantity, grams, portionName }) {
  return grams === undefined
    ? `${quantity} kg`
    : `${quantity} × ${grams} g${portionName ? ` (${portionName})` : ''}`;
}

/** @param line without `grams`, its quantity is kilograms */
function setLine(line, quantity) {
  if (quantity > 0) {
    basket.set(keyOf(line), { ...line, quantity: Math.min(quantity, 100) });
  } else {
    basket.delete(keyOf(line));
  }
  localStorage.setItem('basket', JSON.stringify([...basket]));
  showBasket();
}

function showBasket() {
  const all = [...basket.values()].reduce((sum, { quantity, grams = 1000 }) => sum + quantity * grams, 0);
  find('#open-basket').textContent = `Basket (${all / 1000} kg)`;
  const lines = [...basket.values()].map((line) => {
    const { name, grams, price, quantity: value } = line;
    const input = element('input', { type: 'number', min: 1, max: 100, value, required: true });
    const unit = grams === undefined ? 'Kilograms' : `Pieces of ${grams} g`;
    input.setAttribute('aria-label', `${unit} of ${name}`);
    input.addEventListener('change', () => setLine(line, Math.trunc(input.valueAsNumber)));
    const remove = element('button', {
      type: 'button',
      textContent: 'Remove',
      onclick: () => setLine(line, 0),
    });
    remove.setAttribute('aria-label', `Remove ${name}`);
    return element(
      'li',
      {},
      element('span', { textContent: grams === undefined ? name : `${name}, ${grams} g` }),
      input,
      element('span', { textContent: money.format(price * value) }),
      remove,
    );
  });
  find('#lines').replaceChildren(
    ...(lines.length > 0 ? lines : [element('li', { textContent: 'Nothing yet.' })]),
  );
  showQuote();
}

const order = find('#order');

function orderOf(data) {
  const { deliveryMethodId, discountCode, ...address } = Object.fromEntries(data);
  return {
    items: [...basket.values()].map(({ cheeseId, quantity, grams }) => ({ cheeseId, quantity, grams })),
    shippingAddress: Object.fromEntries(Object.entries(address).filter(([, text]) => text !== '')),
    ...(deliveryMethodId ? { deliveryMethodId: Number(deliveryMethodId) } : {}),
    ...(discountCode ? { discountCode } : {}),
  };
}

/** `items[1].quantity: 20 kg are left` with the name of the cheese in place of the path. */
function orderProblems(words) {
  const names = [...basket.values()].map(({ name }) => name);
  return words.map((text) => text.replace(/^items\[(\d+)\]\.?\w*: /, (_, index) => `${names[index]}: `));
}

function showOrderProblems(problems) {
  order
    .querySelector('.problem')
    .replaceChildren(...problems.map((textContent) => element('p', { textContent })));
}

let quoting = new AbortController();

let shownOptions = '[]';

/** The choices of delivery, by which the goods reach the customer. They are made again only if they have changed. */
function showDelivery(options, chosen) {
  if (JSON.stringify(options) === shownOptions) {
    return;
  }
  shownOptions = JSON.stringify(options);
  const choices = options.map((option) => {
    const { id } = option;
    const input = element('input', {
      type: 'radio',
      name: 'deliveryMethodId',
      value: id,
      checked: id === chosen,
    });
    return element('label', {}, input, element('span', { textContent: optionText(option, money) }));
  });
  find('#delivery div').replaceChildren(...choices);
  find('#delivery').hidden = choices.length === 0;
}

/** What the order would cost, also before a login: current prices and stock, and nothing is ordered or reserved. */
async function showQuote() {
  quoting.abort();
  quoting = new AbortController();
  const { signal } = quoting;
  const quote = find('#quote');
  showOrderProblems([]);
  order.querySelector('button.strong').disabled = basket.size === 0 || username === null;
  if (basket.size === 0) {
    quote.textContent = '';
    find('#breakdown').textContent = '';
    showDelivery([]);
    return;
  }
  try {
    const wished = orderOf(new FormData(order));
    const { country, zipCode } = wished.shippingAddress;
    const body = { ...wished, shippingAddress: { country, zipCode } };
    const { items, total, breakdown, deliveryOptions, problems } = await curd.orders.quote(body, { signal });
    quote.textContent = `Total: ${money.format(total)}${username === null ? '. Log in to order.' : ''}`;
    find('#breakdown').textContent = breakdownText(breakdown, money);
    // Without a line that can be ordered there are no options. The choice is kept.
    if (items.some(({ orderable }) => orderable)) {
      showDelivery(deliveryOptions, breakdown.delivery?.id);
    }
    showOrderProblems(orderProblems(problems.map(({ field, message }) => `${field}: ${message}`)));
  } catch (error) {
    if (!signal.aborted) {
      quote.textContent = '';
      showOrderProblems(orderProblems(wordsOf(error)));
    }
  }
}

order.addEventListener('change', showQuote);
order.addEventListener('submit', async (event) => {
  event.preventDefault();
  quoting.abort();
  showOrderProblems([]);
  const button = order.querySelector('button.strong');
  button.disabled = true;
  try {
    const placed = await curd.orders.place(orderOf(new FormData(order)));
    basket.clear();
    localStorage.removeItem('basket');
    showBasket();
    find('#basket').close();
    await showOrders(placed);
  } catch (error) {
    showOrderProblems(orderProblems(wordsOf(error)));
    button.disabled = false;
  }
});
find('#open-basket').addEventListener('click', () => {
  showQuote();
  find('#basket').showModal();
});

// The customer's own orders.

async function showOrders(placed) {
  const problem = find('#orders .problem');
  problem.textContent = '';
  find('#orders-title').textContent =
    placed === undefined ? 'My orders' : `Thank you! Order ${placed.id} is placed.`;
  if (!find('#orders').open) {
    find('#orders').showModal();
  }
  try {
    const { items } = await curd.customers.listOrders(username);
    const lines = items.map(orderLine);
    find('#order-list').replaceChildren(
      ...(lines.length > 0 ? lines : [element('li', { textContent: 'No orders yet.' })]),
    );
  } catch (error) {
    problem.textContent = wordsOf(error).join(' ');
  }
}

function orderLine({ id, items, total, status, createdAt }) {
  const what = items.map((line) => `${quantityText(line)} ${line.cheeseName}`).join(', ');
  const line = element(
    'li',
    {},
    element('span', { textContent: `${what}: ${money.format(total)}` }),
    element('small', { textContent: `${id} · ${new Date(createdAt).toLocaleString('en-US')} · ${status}` }),
  );
  if (status === 'placed' || status === 'approved') {
    const cancel = element('button', {
      type: 'button',
      textContent: 'Cancel',
      onclick: () => cancelOrder(id),
    });
    cancel.setAttribute('aria-label', `Cancel order ${id}`);
    line.append(cancel);
  }
  return line;
}

async function cancelOrder(id) {
  try {
    await curd.customers.cancelOrder(username, id);
    await showOrders();
  } catch (error) {
    find('#orders .problem').textContent = wordsOf(error).join(' ');
  }
}

find('#open-orders').addEventListener('click', () => showOrders());

// On a phone, the cheeses come first.
find('#facets').open = matchMedia('(min-width: 48rem)').matches;
offerCountries(order.elements.country);
setCustomer(username);
showBasket();
showCheeses();
