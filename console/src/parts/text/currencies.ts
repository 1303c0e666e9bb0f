/** Currencies that a shop may have, in the language of the browser. */
import { locale } from './format.ts';

/** The codes that the server accepts: those of ISO 4217 with two decimals that people pay with. */
const codes =
  `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF
  CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL
  HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP
  MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD
  SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS
  VED VES WST XCD XCG YER ZAR ZMW ZWG`.split(/\s+/);

/** All currencies: "EUR, Euro". */
export function currencyOptions(): { readonly value: string; readonly label: string }[] {
  const names = new Intl.DisplayNames(locale, { type: 'currency' });
  return codes.map((value) => ({ value, label: `${value}, ${names.of(value)}` }));
}
