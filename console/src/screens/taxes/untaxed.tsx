/** Countries that a delivery method serves and that have no tax rate, while the shop computes taxes. */
import { Alert, Anchor } from '@mantine/core';
import { Link } from 'wouter';
import type { Curd, Result } from '../../../../client/src/index.ts';
import { useApi } from '../../data/queries.ts';
import { countryName } from '../../parts/text/countries.ts';
import { locale } from '../../parts/text/format.ts';

type Rate = Result<'listTaxRates'>['items'][number];

const pageSize = 100;
/** More countries than these are not looked up one by one. */
const countriesMax = 40;

/** A rate for one category leaves the others without one. */
const isGeneral = ({ category }: Rate) => category === null;

/** @returns codes; `*` for all countries that are not named */
async function readUntaxed(curd: Curd, signal: AbortSignal): Promise<readonly string[]> {
  const [shop, methods, first] = await Promise.all([
    curd.shop.get({ signal }),
    curd.deliveryMethods.list({ signal }),
    curd.taxRates.list({ limit: pageSize }, { signal }),
  ]);
  const parcels = methods.items.filter(({ isEnabled, kind }) => isEnabled && kind === 'parcel');
  if (shop.tax.mode === 'off' || parcels.length === 0) {
    return [];
  }
  const hasRate = async (country: string): Promise<boolean> => {
    const isOf = (rate: Rate) => isGeneral(rate) && rate.country === country;
    return (
      first.items.some(isOf) ||
      (first.hasMore && (await curd.taxRates.list({ country, limit: pageSize }, { signal })).items.some(isOf))
    );
  };
  const everywhere = first.items.some((rate) => isGeneral(rate) && rate.country === null);
  if (everywhere) {
    return [];
  }
  const served = [...new Set(parcels.flatMap(({ countries }) => countries ?? ['*']))].slice(0, countriesMax);
  const taxed = await Promise.all(served.map((country) => country !== '*' && hasRate(country)));
  return served.filter((_, index) => !taxed[index]);
}

const list = new Intl.ListFormat(locale);

export function UntaxedCountries() {
  const { data = [] } = useApi(['taxes', 'untaxed'], readUntaxed);
  const names = data.filter((code) => code !== '*').map(countryName);
  return data.length === 0 ? null : (
    <Alert color="yellow" variant="light" mb="md" title="Orders without tax">
      {names.length > 0
        ? `You deliver to ${list.format(names)} without a tax rate for ${names.length === 1 ? 'it' : 'them'}: these orders have no tax. `
        : 'A delivery method serves every country, and only some have a tax rate: orders to the others have no tax. '}
      <Anchor component={Link} href="/taxes/new" size="sm" underline="always">
        Create a tax rate
      </Anchor>
    </Alert>
  );
}
