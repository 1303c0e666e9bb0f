/** Carrier and tracking of many parcels: what a scanner, or a column that is pasted, fills in. */

/** What is entered once for all orders. The browser remembers it. */
export interface CarrierFields {
  readonly carrier: string;
  /** A URL with `{number}` in the place of the tracking number; may be empty. */
  readonly urlTemplate: string;
}

const storageKey = 'curd-carrier';

export function readCarrier(): CarrierFields {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? '{}');
    return { carrier: String(stored.carrier ?? ''), urlTemplate: String(stored.urlTemplate ?? '') };
  } catch {
    return { carrier: '', urlTemplate: '' };
  }
}

export function storeCarrier(fields: CarrierFields): void {
  localStorage.setItem(storageKey, JSON.stringify(fields));
}

/** The body of the request that ships an order. */
export function shipmentOf({ carrier, urlTemplate }: CarrierFields, number: string) {
  const trackingNumber = number.trim();
  const url = urlTemplate.trim().replaceAll('{number}', encodeURIComponent(trackingNumber));
  return {
    carrier: carrier.trim() || null,
    trackingNumber: trackingNumber || null,
    trackingUrl: trackingNumber === '' || url === '' ? null : url,
  };
}

/** The numbers in a text that is pasted: one a line, the first cell of each. */
export function numbersIn(text: string): string[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => (line.split('\t')[0] ?? '').trim())
    .filter((number) => number !== '');
}

/** Fills fields from one on with numbers, in their order. */
export function fillFrom(
  numbers: ReadonlyMap<number, string>,
  ids: readonly number[],
  first: number,
  pasted: readonly string[],
): ReadonlyMap<number, string> {
  const filled = new Map(numbers);
  for (const [index, number] of pasted.entries()) {
    const id = ids[first + index];
    if (id !== undefined) {
      filled.set(id, number);
    }
  }
  return filled;
}
