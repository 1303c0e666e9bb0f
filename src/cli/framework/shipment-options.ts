/** Options that state how an order is shipped. */
import { ShipmentInput } from '../../orders/shipments/schemas.ts';
import type { Schema } from '../../schema/schema.ts';
import { validate } from '../../schema/validate.ts';
import { ConfigError, type Parser } from '../../settings/parsers.ts';
import { option } from './options.ts';

/** Refuses what the API refuses. */
const parseAs =
  (schema: Schema): Parser<string> =>
  (text, name) => {
    const [error] = validate(schema, text, true).errors;
    if (error !== undefined) {
      throw new ConfigError(`${name} is "${text}": it ${error.message}.`);
    }
    return text;
  };

const { carrier, trackingNumber, trackingUrl } = ShipmentInput.properties;

export const shipmentOptions = {
  carrier: option('name', 'who carries the parcel', parseAs(carrier)),
  trackingNumber: option('number', 'the number of the parcel at the carrier', parseAs(trackingNumber)),
  trackingUrl: option(
    'url',
    'the page on which the customer follows the parcel: https',
    parseAs(trackingUrl),
  ),
};
