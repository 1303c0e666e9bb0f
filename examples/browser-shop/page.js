/** What all views of the page use: the shop, the basket, elements, errors. */
import { publishableKey, storage, url } from './config.js';

export const find = (selector) => document.querySelector(selector);
const sayUnreachable = (error) => {
  find('#notice').textContent = 'The shop cannot be reached. Reload the page in a minute.';
  throw error;
};
const client = await import(`${url}/client/browser.js`).catch(sayUnreachable);
export const { isCurdError, thumbnailOf } = client;
export const shop = client.createShop({ url, publishableKey, storage });

export const quantityMax = 100;
const { currency } = await shop.shop.get().catch(sayUnreachable);
export const money = new Intl.NumberFormat('en-US', { style: 'currency', currency });
export const time = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'short' });

/** Makes an element. Text is never read as HTML. */
export function make(tag, properties = {}, ...children) {
  const { label, ...rest } = properties;
  const element = Object.assign(document.createElement(tag), rest);
  if (label !== undefined) {
    element.setAttribute('aria-label', label);
  }
  element.append(...children);
  return element;
}

export const notify = (text) => {
  find('#notice').textContent = text;
};

/** "3 × 200 g", or "2 kg" of a cheese without portions. */
export function quantityText({ quantity, grams, portionName }) {
  return grams === undefined
    ? `${quantity} kg`
    : `${quantity} × ${grams} g${portionName ? ` (${portionName})` : ''}`;
}

// The basket survives a reload. It contains nothing secret. By cheese and weight of the piece: a line with its quantity.

export const basket = new Map(JSON.parse(localStorage.getItem('basket') ?? '[]'));

const keyOf = ({ cheeseId, grams = 'kg' }) => `${cheeseId} ${grams}`;
export const quantityOf = (line) => basket.get(keyOf(line))?.quantity ?? 0;

/** @param line without `grams`, its quantity is kilograms */
export function setLine(line, quantity) {
  if (quantity >= 1) {
    basket.set(keyOf(line), { ...line, quantity: Math.min(Math.trunc(quantity), quantityMax) });
  } else {
    basket.delete(keyOf(line));
  }
  localStorage.setItem('basket', JSON.stringify([...basket]));
  showBasketSize();
}

export function showBasketSize() {
  const all = [...basket.values()].reduce((sum, { quantity, grams = 1000 }) => sum + quantity * grams, 0);
  find('#to-basket').textContent = all === 0 ? 'Basket' : `Basket (${all / 1000} kg)`;
}

// The customer.

export function showCustomer() {
  const { username } = shop;
  find('#to-account').textContent = username ?? 'Log in';
  find('#to-orders').hidden = username === null;
  find('#logged-in').hidden = username === null;
  find('#logged-out').hidden = username !== null;
  find('#logged-in strong').textContent = username ?? '';
}

// Errors.

/** An error in words, one for each invalid field. */
export function explain(error) {
  showCustomer();
  if (isCurdError(error, 'connection_failed')) {
    return ['The shop cannot be reached. Check your connection, and try again.'];
  }
  if (isCurdError(error, 'rate_limit_exceeded')) {
    return [`Too many requests. Try again in ${Math.ceil(error.retryAfterSeconds ?? 60)} seconds.`];
  }
  if (isCurdError(error, 'forbidden') && shop.username === null) {
    return ['Your login has ended. Log in again.'];
  }
  if (isCurdError(error) && error.errors.length > 0) {
    return explainFields(error.errors);
  }
  return [error.message.replace(/ \[[\w-]+\]$/, '')]; // without the request id, which is for operators
}

export const explainFields = (errors) => errors.map(({ field, message }) => nameField(field) + message);

/** `items[1].quantity` is the name of the second cheese in the basket. */
function nameField(field) {
  const [, index] = /^items\[(\d+)\]/.exec(field) ?? [];
  const name = index === undefined ? field.split('.').at(-1) : [...basket.values()][index]?.name;
  return name ? `${name}: ` : '';
}

/** Runs a request of a form or a section, with its buttons disabled, and shows the error in it. */
export async function submit(area, run) {
  const problem = area.querySelector('.problem');
  const buttons = [...area.querySelectorAll('button')].filter(({ disabled }) => !disabled);
  const setDisabled = (disabled) => {
    for (const button of buttons) {
      button.disabled = disabled;
    }
  };
  problem.replaceChildren();
  setDisabled(true);
  try {
    await run();
  } catch (error) {
    problem.replaceChildren(...explain(error).map((textContent) => make('p', { textContent })));
  } finally {
    setDisabled(false);
  }
}

export const onSubmit = (form, run) =>
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit(form, () => run(Object.fromEntries(new FormData(form))));
  });
