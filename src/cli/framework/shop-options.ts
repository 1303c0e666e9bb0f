/** Options of the commands on cheeses, orders, stock and mails. */
import { commandName } from '../../command-name.ts';
import { ShipmentInput } from '../../orders/shipments/schemas.ts';
import { orderStatuses } from '../../orders/transitions/order-status.ts';
import { countryRule } from '../../schema/countries.ts';
import type { Schema } from '../../schema/schema.ts';
import { validate } from '../../schema/validate.ts';
import { ConfigError, type Parser, parseEnum, parseInteger, parseText } from '../../settings/parsers.ts';
import { adjustmentReasons, onHandSchema } from '../../stock/schemas.ts';
import { changeOptions, parseByRule, parseId } from './command-options.ts';
import { booleanOption, option, repeatableOption, requiredOption } from './options.ts';

const parseCountry: Parser<string> = (text, name) => parseByRule(countryRule)(text, name).toUpperCase();

export const listOrdersOptions = {
  status: option('status', `one of ${orderStatuses.join(', ')}`, parseEnum(orderStatuses)),
  customer: option('username', 'only orders of this customer', parseText),
  country: option('code', 'only orders to this country, such as CH', parseCountry),
  cheese: option(
    'id',
    'only open orders (placed, approved or shipped) with this cheese',
    parseId('cheese', `"${commandName} export cheeses" writes the ids to a file.`),
  ),
  late: booleanOption('only approved orders whose estimated shipDate has passed'),
  needsApproval: booleanOption('only placed orders that wait for an operator, because a cheese has no price'),
};

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

export const importOptions = {
  map: repeatableOption(
    'field=Column[,Other]',
    'columns of a field: the first that is not empty is used; for tags, all of them',
    parseText,
  ),
  update: booleanOption(
    'update cheeses that exist with the values of the file; an empty cell changes nothing',
  ),
  setStock: booleanOption('with --update: set the kilograms on hand of cheeses that exist'),
  dryRun: booleanOption('print what the import would do, and write nothing'),
};

export const parseKilograms = parseInteger(0, onHandSchema.maximum);

/** Kilograms to add, or with a minus sign to subtract. */
export const parseDelta: Parser<number> = (text, name) => {
  if (!/^[-+]?\d{1,10}$/.test(text) || Number(text) === 0 || Math.abs(Number(text)) > onHandSchema.maximum) {
    throw new ConfigError(
      `${name} is "${text}": set it to the whole kilograms to add, such as 20, or to subtract, such as -5; at most ${onHandSchema.maximum}.`,
    );
  }
  return Number(text);
};

export const listStockOptions = {
  low: booleanOption('only cheeses of which nothing is available, or no more than their --low-at'),
};

export const setStockOptions = {
  ...changeOptions,
  lowAt: option(
    'kg',
    'warn at this number of available kilograms or below; none: no warning (default: unchanged)',
    (text, name) => (text === 'none' ? null : parseKilograms(text, name)),
  ),
};

export const adjustStockOptions = {
  ...changeOptions,
  reason: requiredOption('reason', adjustmentReasons.join(', '), parseEnum(adjustmentReasons)),
};

export const previewMailOptions = {
  order: option(
    'id',
    'fill it from this order',
    parseId('order', `"${commandName} orders list" shows the ids.`),
  ),
  html: booleanOption('print the HTML in place of the text'),
};
