/** The list of cheeses with its filters, and one cheese. */
import {
  explain,
  find,
  make,
  money,
  notify,
  quantityMax,
  quantityOf,
  quantityText,
  setLine,
  shop,
  thumbnailOf,
} from './page.js';

const pageSize = 24;

const filters = find('#filters');
let listing = new AbortController();
let nextCursor;

function chosenFilters() {
  const data = new FormData(filters);
  const text = (name) => data.get(name)?.trim() || undefined;
  const price = (name) => (text(name) === undefined ? undefined : Number(text(name)));
  const tags = data.getAll('tags');
  return {
    status: ['available'],
    q: text('q'),
    sort: text('sort'),
    category: text('category'),
    origin: text('origin'),
    tags: tags.length > 0 ? tags : undefined,
    minPrice: price('minPrice'),
    maxPrice: price('maxPrice'),
  };
}

/** Shows the first page, or adds the next one. A newer request replaces one that still runs. */
export async function loadCheeses(cursor) {
  listing.abort();
  listing = new AbortController();
  const { signal } = listing;
  const facets = cursor === undefined ? ['category', 'origin', 'tags'] : undefined;
  try {
    const query = { ...chosenFilters(), limit: pageSize, cursor, facets };
    const page = await shop.cheeses.list(query, { signal });
    const cards = page.items.map(cardOf);
    if (cursor === undefined) {
      find('#cheeses').replaceChildren(...cards);
      showFacets(page.facets);
    } else {
      find('#cheeses').append(...cards);
      cards[0]?.querySelector('a').focus();
    }
    nextCursor = page.nextCursor;
    find('#more').hidden = !page.hasMore;
    find('#count').textContent =
      { 0: 'No cheese matches. Change the filters.', 1: '1 cheese' }[page.total] ?? `${page.total} cheeses`;
  } catch (error) {
    if (!signal.aborted) {
      find('#count').textContent = explain(error).join(' ');
    }
  }
}

const priceOf = ({ pricePerKg }) =>
  pricePerKg === undefined ? 'Price on request' : `${money.format(pricePerKg)} per kg`;

function cardOf(cheese) {
  const { id, name, photoUrls = [], category, origin } = cheese;
  const [photo] = photoUrls;
  // The name is beside it, so the image has no text of its own.
  const image = photo
    ? make('img', { src: thumbnailOf(photo), alt: '', loading: 'lazy' })
    : make('div', { className: 'blank' });
  return make(
    'li',
    {},
    image,
    make('h2', {}, make('a', { href: `#/cheese/${id}`, textContent: name })),
    make('p', {
      className: 'quiet',
      textContent: [category?.name, origin].filter(Boolean).join(', '),
    }),
    make('p', { textContent: priceOf(cheese) }),
  );
}

/** The choices with their counts. A chosen value stays, also when no cheese has it under the other filters. */
function choicesOf({ values }, chosen) {
  const missing = chosen.filter((one) => one && !values.some(({ value }) => value === one));
  return [...missing.map((value) => ({ value, count: 0 })), ...values];
}

function showFacets({ tags, ...others }) {
  for (const [name, facet] of Object.entries(others)) {
    const select = filters.elements[name];
    const chosen = select.value;
    const options = choicesOf(facet, [chosen]).map(
      ({ value, count }) => new Option(`${value} (${count})`, value, false, value === chosen),
    );
    select.replaceChildren(new Option('All', ''), ...options);
    select.value = chosen;
  }
  const chosen = new FormData(filters).getAll('tags');
  const focused = document.activeElement?.name === 'tags' ? document.activeElement.value : undefined;
  const labels = choicesOf(tags, chosen).map(({ value, count }) => {
    const input = make('input', { type: 'checkbox', name: 'tags', value, checked: chosen.includes(value) });
    return make('label', {}, input, value, make('span', { className: 'quiet', textContent: count }));
  });
  find('#tags').replaceChildren(...labels);
  [...find('#tags').querySelectorAll('input')].find(({ value }) => value === focused)?.focus();
}

let typing;
filters.addEventListener('input', ({ target }) => {
  clearTimeout(typing);
  typing = setTimeout(loadCheeses, ['search', 'number'].includes(target.type) ? 250 : 0);
});
filters.addEventListener('submit', (event) => event.preventDefault());
// The form is reset after the event.
filters.addEventListener('reset', () => setTimeout(loadCheeses));
find('#more').addEventListener('click', () => loadCheeses(nextCursor));

// One cheese.

let shownCheese;
let shownPortions = [];

const showAge = (months) => ({ 0: 'under 1 month', 1: '1 month' })[months] ?? `${months} months`;

export async function showCheese(id) {
  const section = find('#cheese');
  const cheese = await shop.cheeses.get(Number(id));
  const [images, availability, prices] = await Promise.all([
    shop.cheeses.listImages(cheese.id),
    shop.cheeses.getAvailability(cheese.id),
    shop.cheeses.listPrices(cheese.id, { limit: 1 }),
  ]);
  shownCheese = cheese;
  section.querySelector('h1').textContent = cheese.name;
  showImages(cheese, images.items);
  showPrice(cheese, prices.reduction);
  const { orderable, kilograms } = availability;
  const left = kilograms !== null && kilograms <= 5 ? `Only ${kilograms} kg left` : 'In stock';
  section.querySelector('.stock').textContent = orderable ? left : 'Sold out at the moment';
  find('#add').hidden = !orderable;
  showPortions(availability);
  const facts = {
    Category: cheese.category?.name,
    Origin: cheese.origin,
    Age: cheese.ageMonths === undefined ? undefined : showAge(cheese.ageMonths),
    Organic: cheese.organic ? 'Yes' : undefined,
    Kind: (cheese.tags ?? []).map(({ name }) => name).join(', '),
  };
  const rows = Object.entries(facts).filter(([, value]) => value);
  section
    .querySelector('dl')
    .replaceChildren(
      ...rows.flatMap(([term, value]) => [
        make('dt', { textContent: term }),
        make('dd', { textContent: value }),
      ]),
    );
}

/** The pieces in which a cheese is sold, to choose one. Without portions it is sold by the kilogram. */
function showPortions({ portions = [], kilograms }) {
  shownPortions = portions;
  const { grams, quantity } = find('#add').elements;
  const options = portions.map(({ grams: weight, name, price, quantity: left }) => {
    const text = [name, `${weight} g`, price === null ? undefined : money.format(price)];
    const option = new Option(text.filter(Boolean).join(', ') + (left === 0 ? ' (sold out)' : ''), weight);
    option.disabled = left === 0;
    return option;
  });
  grams.replaceChildren(...options);
  grams.value = portions.find(({ quantity: left }) => left > 0)?.grams ?? '';
  grams.parentElement.hidden = portions.length === 0;
  find('#unit').textContent = portions.length === 0 ? 'Kilograms' : 'Pieces';
  const setMax = () => {
    quantity.max = chosenPortion()?.quantity ?? Math.floor(kilograms ?? quantityMax);
  };
  grams.onchange = setMax;
  setMax();
}

function chosenPortion() {
  const { grams } = find('#add').elements;
  return shownPortions.find(({ grams: weight }) => weight === Number(grams.value));
}

/** Beside a reduced price stands the lowest one of the 30 days before, from which the percentage is calculated. */
function showPrice(cheese, reduction) {
  const price = find('#cheese .price');
  price.replaceChildren(make('span', { textContent: priceOf(cheese) }));
  if (reduction !== null && reduction.percent !== null) {
    price.firstChild.className = 'reduced';
    const prior = `Lowest price of the 30 days before: ${money.format(reduction.priorPrice)}`;
    price.append(`, ${reduction.percent}% off`, make('small', { textContent: prior }));
  }
}

/** Uploaded images, or the URLs that the cheese names. Buttons choose one of several. */
function showImages({ name, photoUrls = [] }, uploaded) {
  const images =
    uploaded.length > 0
      ? uploaded.map(({ imageUrl, caption }) => ({ src: imageUrl, caption }))
      : photoUrls.map((src) => ({ src, caption: null }));
  const figure = find('#cheese figure');
  const thumbnails = find('#cheese .thumbnails');
  const choose = (index) => {
    const { src, caption } = images[index];
    figure.replaceChildren(make('img', { src, alt: caption ?? name }));
    if (caption) {
      figure.append(make('figcaption', { textContent: caption }));
    }
    for (const [at, button] of [...thumbnails.children].entries()) {
      button.setAttribute('aria-pressed', at === index);
    }
  };
  const buttons = images.map(({ src, caption }, index) =>
    make(
      'button',
      { type: 'button', label: caption ?? `Image ${index + 1}`, onclick: () => choose(index) },
      make('img', { src: thumbnailOf(src), alt: '' }),
    ),
  );
  thumbnails.replaceChildren(...(buttons.length > 1 ? buttons : []));
  if (images.length > 0) {
    choose(0);
  } else {
    figure.replaceChildren(make('div', { className: 'blank' }));
  }
}

find('#add').addEventListener('submit', (event) => {
  event.preventDefault();
  const { id, name, pricePerKg } = shownCheese;
  const { grams, name: portionName, price = pricePerKg } = chosenPortion() ?? {};
  const line = { cheeseId: id, name, grams, portionName, price };
  const quantity = event.target.elements.quantity.valueAsNumber;
  setLine(line, quantityOf(line) + quantity);
  notify(`${quantityText({ ...line, quantity })} of ${name} added to your basket.`);
});
