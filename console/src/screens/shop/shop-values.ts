/** The texts of the form of the shop, and the request that changes of them become. */
import type { Body, Result } from '../../../../client/src/index.ts';

export type ShopProfile = Result<'getShop'>;

const memberNames = [
  ...(['name', 'legalName', 'vatId', 'email', 'phone', 'currency', 'timeZone', 'language'] as const),
];
const addressNames = [...(['street', 'street2', 'zipCode', 'city', 'state', 'country'] as const)];

type AddressField = `address.${(typeof addressNames)[number]}`;
export type ShopField = (typeof memberNames)[number] | AddressField;

/** '' if nothing is stated. */
export type ShopValues = Readonly<Record<ShopField, string>>;

export const fieldLabels: ShopValues = {
  name: 'Name',
  legalName: 'Legal name',
  vatId: 'VAT id',
  email: 'E-mail',
  phone: 'Phone',
  currency: 'Currency',
  timeZone: 'Time zone',
  language: 'Language',
  'address.street': 'Street',
  'address.street2': 'Street, second line',
  'address.zipCode': 'Zip code',
  'address.city': 'City',
  'address.state': 'State',
  'address.country': 'Country',
};

export function valuesOf(shop: ShopProfile): ShopValues {
  const members = memberNames.map((name) => [name, shop[name] ?? ''] as const);
  const address = addressNames.map((name) => [`address.${name}`, shop.address?.[name] ?? ''] as const);
  return Object.fromEntries([...members, ...address]) as ShopValues;
}

/** Empty texts remove members. Those that a shop cannot be without are refused with the message of the server. */
export function patchOf(changes: Partial<ShopValues>, stored: ShopValues): Body<'patchShop'> {
  const after = { ...stored, ...changes };
  const isWithoutAddress = addressNames.every((name) => after[`address.${name}`].trim() === '');
  const textOf = (field: string, text: string) => {
    const trimmed = text.trim();
    return trimmed === '' && field !== 'name' && field !== 'language' ? null : trimmed;
  };
  const entries = Object.entries(changes);
  const members = entries.filter(([field]) => !field.startsWith('address.'));
  const address = entries.filter(([field]) => field.startsWith('address.'));
  return {
    ...Object.fromEntries(members.map(([field, text]) => [field, textOf(field, text)])),
    ...(address.length === 0
      ? {}
      : {
          address: isWithoutAddress
            ? null
            : Object.fromEntries(
                address.map(([field, text]) => [field.slice('address.'.length), textOf(field, text)]),
              ),
        }),
  };
}
