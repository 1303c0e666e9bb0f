/** Charges and days of delivery in words. */
import type { Result } from '../../../../client/src/index.ts';
import { showDate, showMoney } from '../text/format.ts';

export type DeliveryOption = Result<'quoteOrder'>['deliveryOptions'][number];

/** "Cooled parcel: €9.90, leaves Monday, November 30, arrives Tuesday, December 1" */
export function optionText({ name, kind, amount, shipsOn, arrivesOn }: DeliveryOption): string {
  const leaves = shipsOn === null ? '' : `, ${kind === 'pickup' ? 'ready' : 'leaves'} ${showDate(shipsOn)}`;
  const arrives = arrivesOn === null ? '' : `, arrives ${showDate(arrivesOn)}`;
  return `${name}: ${amount === 0 ? 'free' : showMoney(amount)}${leaves}${arrives}`;
}
