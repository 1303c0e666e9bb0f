/** Schemas of the shop: what its owner decides. */
import type { XStatic } from 'typebox/schema';
import { countryRule } from '../schema/countries.ts';
import { currencyRule } from '../schema/currencies.ts';
import type { Schema } from '../schema/schema.ts';
import { emailRule, lineRule } from '../schema/text-rules.ts';

/** Text that the owner may remove. */
const optionalLine = (maxLength: number) =>
  ({ type: ['string', 'null'], minLength: 1, maxLength, rule: lineRule }) as const;

const country = { type: ['string', 'null'], rule: countryRule, description: 'ISO 3166-1 alpha-2' } as const;

const ShopAddress = {
  type: ['object', 'null'],
  description: 'Where the shop is, as its receipts and mails show it',
  required: ['street', 'street2', 'zipCode', 'city', 'state', 'country'],
  properties: {
    street: optionalLine(200),
    street2: optionalLine(200),
    zipCode: optionalLine(32),
    city: optionalLine(100),
    state: optionalLine(100),
    country,
  },
} as const;

const timeZone = {
  type: 'string',
  maxLength: 64,
  rule: {
    test: isTimeZone,
    message: 'must be a time zone of the IANA database, such as Europe/Zurich',
  },
  description: 'The time zone in which the shop works: a name of the IANA database',
} as const;

const language = {
  type: 'string',
  maxLength: 35,
  rule: { test: isLanguage, message: 'must be a language tag (BCP 47), such as en or de-CH' },
  description: 'How dates and amounts are written: a language tag (BCP 47)',
} as const;

/** How a shop computes taxes. */
export const taxModes = ['off', 'included', 'added'] as const;

const delivery = {
  type: 'object',
  description: 'Whether and how goods reach the customer',
  required: ['required'],
  properties: {
    required: {
      type: 'boolean',
      description:
        'An order that names no delivery method gets the cheapest one that serves it, and is refused if there is none',
    },
  },
} as const;

const tax = {
  type: 'object',
  required: ['mode'],
  properties: {
    mode: {
      type: 'string',
      enum: taxModes,
      description: 'Whether prices contain the tax, or it is added to them. `off`: the shop computes none',
    },
  },
} as const;

const members = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: 60,
    rule: lineRule,
    description: 'On all pages and mails',
  },
  legalName: { ...optionalLine(100), description: 'Who sells, where it is not the name' },
  address: ShopAddress,
  email: { type: ['string', 'null'], maxLength: 254, rule: emailRule, description: 'For customers' },
  phone: { ...optionalLine(30), description: 'For customers' },
  vatId: { ...optionalLine(30), description: 'The number under which the shop pays value added tax' },
  currency: {
    type: 'string',
    rule: currencyRule,
    description:
      'ISO 4217, with two decimals. All prices and amounts are in it. It cannot change after the first order',
  },
  timeZone,
  language,
  delivery,
  tax,
} as const satisfies Readonly<Record<string, Schema>>;

export type ShopMember = keyof typeof members;
export const shopMembers = Object.keys(members) as [ShopMember, ...ShopMember[]];

export const Shop = {
  title: 'Shop',
  description: 'The shop, as its owner describes it. A member that was not set is null',
  type: 'object',
  required: shopMembers,
  properties: members,
  examples: [
    {
      name: 'Fromagerie du Coin',
      legalName: 'Fromagerie du Coin GmbH',
      address: {
        street: 'Gerechtigkeitsgasse 1',
        street2: null,
        zipCode: '3011',
        city: 'Bern',
        state: null,
        country: 'CH',
      },
      email: 'shop@example.com',
      phone: '+41 31 000 00 00',
      vatId: 'CHE-123.456.789 MWST',
      currency: 'CHF',
      timeZone: 'Europe/Zurich',
      language: 'de-CH',
      delivery: { required: true },
      tax: { mode: 'included' },
    },
  ],
} as const;
export type ShopAddress = XStatic<typeof ShopAddress>;
export type Shop = Readonly<Omit<Required<XStatic<typeof Shop>>, 'address'>> & {
  readonly address: ShopAddress | null;
};

const settingsMembers = {
  delivery: {
    type: 'object',
    required: ['packagingGrams'],
    properties: {
      packagingGrams: {
        type: 'integer',
        minimum: 0,
        maximum: 100_000,
        description: 'The weight of the packaging of a parcel, which its delivery charge counts',
      },
    },
  },
} as const satisfies Readonly<Record<string, Schema>>;

export type SettingsMember = keyof typeof settingsMembers;
export const settingsMemberNames = Object.keys(settingsMembers) as [SettingsMember, ...SettingsMember[]];

export const ShopSettings = {
  title: 'ShopSettings',
  description: 'What only the owner of the shop reads',
  type: 'object',
  required: settingsMemberNames,
  properties: settingsMembers,
  examples: [{ delivery: { packagingGrams: 400 } }],
} as const;
export type ShopSettings = Readonly<Required<XStatic<typeof ShopSettings>>>;

export const ShopPatch = {
  title: 'ShopPatch',
  description: 'A JSON Merge Patch (RFC 7396): members that are absent stay, and null removes one',
  type: 'object',
  properties: {
    ...members,
    name: { ...members.name, refusesNull: true },
    address: { ...ShopAddress, required: [] },
    currency: { ...members.currency, refusesNull: true },
    timeZone: { ...timeZone, refusesNull: true },
    language: { ...language, refusesNull: true },
    delivery: {
      ...delivery,
      refusesNull: true,
      required: [],
      properties: {
        required: { ...delivery.properties.required, refusesNull: true },
        packagingGrams: { ...settingsMembers.delivery.properties.packagingGrams, refusesNull: true },
      },
    },
    tax: {
      ...tax,
      refusesNull: true,
      required: [],
      properties: { mode: { ...tax.properties.mode, refusesNull: true } },
    },
  },
  examples: [
    {
      timeZone: 'Europe/Vienna',
      address: { street: 'Naschmarkt 1', zipCode: '1060', city: 'Wien', country: 'AT' },
    },
  ],
} as const;
export type ShopPatch = Omit<XStatic<typeof ShopPatch>, 'address'> & {
  readonly address?: Partial<ShopAddress> | null;
};

/** Members of the settings alone, as a JSON Merge Patch. */
export const ShopSettingsPatch = {
  title: 'ShopSettingsPatch',
  description: 'A JSON Merge Patch (RFC 7396): members that are absent stay',
  type: 'object',
  properties: {
    delivery: {
      ...settingsMembers.delivery,
      refusesNull: true,
      required: [],
      properties: { packagingGrams: ShopPatch.properties.delivery.properties.packagingGrams },
    },
  },
  examples: [{ delivery: { packagingGrams: 350 } }],
} as const;

/** A shop that configures nothing. */
export const newShop: Omit<Shop, 'name'> = {
  legalName: null,
  address: null,
  email: null,
  phone: null,
  vatId: null,
  currency: 'USD',
  timeZone: 'UTC',
  language: 'en',
  delivery: { required: false },
  tax: { mode: 'off' },
};

export const newSettings: ShopSettings = { delivery: { packagingGrams: 0 } };

function isTimeZone(text: string): boolean {
  try {
    // Offsets such as +01:00 are accepted by newer engines and are no zone: they know no summer time.
    return /^[A-Za-z]/.test(text) && new Intl.DateTimeFormat('en', { timeZone: text }) !== null;
  } catch {
    return false;
  }
}

function isLanguage(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
