/** The delivery of an order: its choices in the basket, and the parts of a total. */
import { find, make, money } from './page.js';

const dayName = new Intl.DateTimeFormat('en-US', { weekday: 'long', timeZone: 'UTC' });
let shownOptions = '[]';

/** The choices of delivery. They are made again only if they have changed, so that the focus stays. */
export function showDelivery(options, chosen) {
  if (JSON.stringify(options) === shownOptions) {
    return;
  }
  shownOptions = JSON.stringify(options);
  const choices = options.map(({ id, name, kind, amount, shipsOn, arrivesOn }) => {
    const [leaves, arrives] = [shipsOn, arrivesOn].map((day) => day && dayName.format(new Date(day)));
    const days =
      kind === 'pickup'
        ? `ready on ${leaves}`
        : `leaves us on ${leaves}${arrives ? `, with you on ${arrives}` : ''}`;
    const input = make('input', { type: 'radio', name: 'deliveryMethodId', value: id });
    input.checked = id === chosen;
    const text = make('span', { textContent: `${name}, ${money.format(amount)}: ${days}` });
    return make('label', {}, input, text);
  });
  find('#delivery div').replaceChildren(...choices);
  find('#delivery').hidden = choices.length === 0;
}

/** How a total comes about, as pairs of texts. None where it is the sum of the lines. */
export function breakdownRows({ subtotal, discount, delivery, tax }) {
  const rates = tax?.rates ?? [];
  const rows = [
    ...(discount ? [[discount.code, `-${money.format(discount.amount)}`]] : []),
    ...(delivery ? [[delivery.name, money.format(delivery.amount)]] : []),
    ...rates.map(({ name, percent, amount }) => [
      `${name} ${percent} %${tax.included ? ' included' : ''}`,
      money.format(amount),
    ]),
  ];
  return rows.length === 0 ? [] : [['Cheese', money.format(subtotal)], ...rows];
}
