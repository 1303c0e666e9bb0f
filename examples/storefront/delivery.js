/** The delivery of an order, in words. */

const dayName = new Intl.DateTimeFormat('en-US', { weekday: 'long', timeZone: 'UTC' });

/** "Cooled parcel, €6.90: leaves us on Tuesday, with you on Wednesday". */
export function optionText({ name, kind, amount, shipsOn, arrivesOn }, money) {
  const [leaves, arrives] = [shipsOn, arrivesOn].map((day) => day && dayName.format(new Date(day)));
  const days =
    kind === 'pickup'
      ? `ready on ${leaves}`
      : `leaves us on ${leaves}${arrives ? `, with you on ${arrives}` : ''}`;
  return `${name}, ${money.format(amount)}: ${days}`;
}

/** How the total comes about, in one line; empty where it is the sum of the lines. */
export function breakdownText({ subtotal, discount, delivery, tax }, money) {
  const rates = (tax?.rates ?? []).map(
    ({ name, percent, amount }) =>
      `${name} ${percent} %${tax.included ? ' included' : ''} ${money.format(amount)}`,
  );
  const parts = [
    discount && `${discount.code} -${money.format(discount.amount)}`,
    delivery && `${delivery.name} ${money.format(delivery.amount)}`,
    ...rates,
  ].filter(Boolean);
  return parts.length === 0 ? '' : [`Cheese ${money.format(subtotal)}`, ...parts].join(' · ');
}
