/** Events of delivery methods, tax rates and discount codes. */
import type { Clock } from '../../clock.ts';
import type { DeliveryService } from '../../delivery/service.ts';
import type { DiscountService } from '../../discounts/service.ts';
import type { TaxService } from '../../tax/service.ts';
import { changing, making, randomText, type TriggerRequest, type Triggers } from './trigger.ts';

interface Dependencies {
  readonly clock: Clock;
  readonly delivery: DeliveryService;
  readonly taxes: TaxService;
  readonly discounts: DiscountService;
}

/** What a trigger makes changes no order: the method is disabled, the rate is one of a category that no cheese has. */
export function sellingTriggers({ clock, delivery, taxes, discounts }: Dependencies): Triggers {
  const name = () => `test-${randomText(clock, 6)}`;
  const makeMethod = async ({ context }: TriggerRequest): Promise<number> =>
    Number((await delivery.create(context, { name: name(), kind: 'pickup', isEnabled: false })).id);
  const makeRate = async ({ context }: TriggerRequest): Promise<number> =>
    Number((await taxes.create(context, { name: name(), percent: 1, category: name() })).id);
  async function makeCode({ context }: TriggerRequest): Promise<string> {
    const code = name().toUpperCase();
    await discounts.create(context, { code, kind: 'free_delivery', isEnabled: false });
    return code;
  }
  const changingCode = (change: (request: TriggerRequest, code: string) => Promise<unknown>) => ({
    kind: 'discount',
    async run(request: TriggerRequest, given: string | null) {
      const code = given ?? (await makeCode(request));
      await change(request, code);
      return `discount:${code}`;
    },
  });
  return {
    'delivery_method.created': making('delivery_method', makeMethod),
    'delivery_method.changed': changing('delivery_method', makeMethod, ({ context }, id) =>
      delivery.change(context, id, { text: name() }),
    ),
    'delivery_method.deleted': changing('delivery_method', makeMethod, ({ context }, id) =>
      delivery.delete(context, id),
    ),
    'tax_rate.created': making('tax_rate', makeRate),
    'tax_rate.changed': changing('tax_rate', makeRate, ({ context }, id) =>
      taxes.change(context, id, { name: name() }),
    ),
    'tax_rate.deleted': changing('tax_rate', makeRate, ({ context }, id) => taxes.delete(context, id)),
    'discount.created': making('discount', makeCode),
    'discount.changed': changingCode(({ context }, code) =>
      discounts.change(context, code, { usesMax: 1 + Number.parseInt(randomText(clock, 3), 16) }),
    ),
    'discount.deleted': changingCode(({ context }, code) => discounts.delete(context, code)),
  };
}
