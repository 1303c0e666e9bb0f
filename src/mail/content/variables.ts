/**
 * The variables of each mail. One complete example serves three purposes: a template may use exactly the names in it, a
 * preview without real data shows it, in the currency of the shop, and its type is that of the real data.
 */
import { type MoneyStyle, showPrice } from '../../schema/money-text.ts';
import type { MailName } from '../../settings/mail.ts';

interface OrderVariables {
  readonly number: string;
  /** YYYY-MM-DD, like all days. */
  readonly placedOn: string;
  readonly lines: readonly {
    readonly name: string;
    /** Such as "3 × 200 g" or "1 × 8000 g (Half wheel)"; null for a line in kilograms. */
    readonly unit: string | null;
    /** Price of a piece; null for a line in kilograms. */
    readonly unitPrice: string | null;
    /** Weight of the whole line, also of pieces. */
    readonly kilograms: string;
    readonly pricePerKg: string;
    readonly amount: string;
  }[];
  /** How the total comes about; null if it is the sum of the lines. */
  readonly breakdown: BreakdownVariables | null;
  /** Amount with the currency, in the language of the shop, like all prices. */
  readonly total: string;
  /** Whether the customer fetches the order. */
  readonly isPickup: boolean;
  /** When the order leaves and arrives; null without a delivery method. */
  readonly delivery: DeliveryVariables | null;
  readonly shippingAddress: {
    /** The recipient: the customer if the order names none. */
    readonly name: string;
    readonly company: string | null;
    readonly street: string;
    readonly street2: string | null;
    readonly city: string;
    readonly state: string | null;
    readonly zipCode: string | null;
    readonly country: string;
  };
  /** The address at which a pickup waits; null for other orders, and if the shop has no address. */
  readonly pickupAddress: Readonly<
    Record<'street' | 'street2' | 'zipCode' | 'city' | 'state' | 'country', string | null>
  > | null;
  readonly shipDate: string | null;
  /** Why the order was cancelled, if the server or an operator has said so. */
  readonly reason: string | null;
  /** The shop's own page of the order; null without CURD_ORDER_URL. */
  readonly url: string | null;
}

interface BreakdownVariables {
  readonly subtotal: string;
  readonly discount: { readonly code: string; readonly amount: string } | null;
  readonly delivery: { readonly name: string; readonly amount: string } | null;
  readonly taxes: readonly {
    readonly name: string;
    readonly percent: string;
    readonly amount: string;
    /** Whether prices contain it. Otherwise it is added to them. */
    readonly isIncluded: boolean;
  }[];
}

/** Days are written with their weekday, in the language of the shop. */
interface DeliveryVariables {
  /** The day on which the goods leave the shop or can be fetched; of an order that waits for its approval, the expected one. */
  readonly leavesOn: string | null;
  /** Null if it is not known, and for a pickup. */
  readonly arrivesOn: string | null;
}

/** What every mail has. */
interface CommonVariables {
  readonly shopName: string;
  readonly customer: {
    /** First and last name, or the username. */
    readonly name: string;
    readonly firstName: string;
    readonly lastName: string;
    readonly username: string;
  };
}

interface OrderMail extends CommonVariables {
  readonly order: OrderVariables;
}

/** How an order travels; null if nobody has recorded it. */
interface ShipmentVariables {
  readonly carrier: string | null;
  readonly trackingNumber: string | null;
  readonly trackingUrl: string | null;
}

export interface MailVariables {
  readonly 'order-placed': OrderMail;
  readonly 'order-shipped': OrderMail & { readonly shipment: ShipmentVariables | null };
  /** Replaces `order-shipped` for an order that the customer fetches. */
  readonly 'order-ready': OrderMail;
  readonly 'order-delivered': OrderMail;
  readonly 'order-cancelled': OrderMail;
  readonly 'password-reset': CommonVariables & { readonly link: string; readonly minutes: string };
  readonly 'password-changed': CommonVariables & {
    readonly changedOn: string;
    readonly forgotPasswordUrl: string;
  };
  readonly 'email-changed': CommonVariables & { readonly changedOn: string };
  readonly 'key-created': CommonVariables & {
    readonly credential: {
      /** One of the two is true. */
      readonly isClient: boolean;
      readonly isApiKey: boolean;
      readonly name: string;
      readonly createdOn: string;
      /** The credential of the operator, or `cli` for a command. */
      readonly createdBy: string;
    };
  };
}

const common = {
  shopName: 'Fromagerie',
  customer: { name: 'Ada Lovelace', firstName: 'Ada', lastName: 'Lovelace', username: 'ada' },
} as const satisfies CommonVariables;

const sampleBreakdown = (
  name: string,
  charge: number,
  tax: number,
  style: MoneyStyle,
): BreakdownVariables => ({
  subtotal: showPrice(47.5, style),
  discount: { code: 'SPRING', amount: showPrice(4.75, style) },
  delivery: { name, amount: showPrice(charge, style) },
  taxes: [{ name: 'VAT', percent: '2.6', amount: showPrice(tax, style), isIncluded: true }],
});

const sampleOrder = (style: MoneyStyle): OrderVariables => ({
  number: '31',
  placedOn: '2026-06-01',
  lines: [
    {
      name: 'Gruyère AOP',
      unit: '3 × 200 g',
      unitPrice: showPrice(6.5, style),
      kilograms: '0.6',
      pricePerKg: showPrice(32.5, style),
      amount: showPrice(19.5, style),
    },
    {
      name: 'Brie de Meaux',
      unit: null,
      unitPrice: null,
      kilograms: '1',
      pricePerKg: showPrice(28, style),
      amount: showPrice(28, style),
    },
  ],
  breakdown: sampleBreakdown('Cooled parcel', 6.9, 1.26, style),
  total: showPrice(49.65, style),
  isPickup: false,
  delivery: { leavesOn: 'Wednesday, June 3', arrivesOn: 'Thursday, June 4' },
  pickupAddress: null,
  shippingAddress: {
    name: 'Ada Lovelace',
    company: 'Analytical Engines',
    street: 'Gerechtigkeitsgasse 1',
    street2: '2nd floor',
    city: 'Bern',
    state: 'BE',
    zipCode: '3011',
    country: 'CH',
  },
  shipDate: '2026-06-03',
  reason: null,
  url: 'https://shop.example/orders/31',
});

/** A complete example of each mail. */
export function sampleVariables(style: MoneyStyle): MailVariables {
  const order = sampleOrder(style);
  return {
    'order-placed': { ...common, order: { ...order, shipDate: null } },
    'order-shipped': {
      ...common,
      order,
      shipment: {
        carrier: 'Swiss Post',
        trackingNumber: '99.60.123456.12345678',
        trackingUrl: 'https://tracking.example/99.60.123456.12345678',
      },
    },
    'order-ready': {
      ...common,
      order: {
        ...order,
        breakdown: sampleBreakdown('Pickup', 0, 1.08, style),
        total: showPrice(42.75, style),
        isPickup: true,
        delivery: { leavesOn: 'Wednesday, June 3', arrivesOn: null },
        pickupAddress: {
          street: 'Naschmarkt 1',
          street2: 'Stand 12',
          zipCode: '1060',
          city: 'Wien',
          state: 'W',
          country: 'AT',
        },
      },
    },
    'order-delivered': { ...common, order },
    'order-cancelled': {
      ...common,
      order: { ...order, shipDate: null, reason: 'no longer available: Brie de Meaux' },
    },
    'password-reset': { ...common, link: 'https://shop.example/oauth/password-reset/…', minutes: '30' },
    'password-changed': {
      ...common,
      changedOn: '2026-06-01',
      forgotPasswordUrl: 'https://shop.example/oauth/forgot-password',
    },
    'email-changed': { ...common, changedOn: '2026-06-01' },
    'key-created': {
      ...common,
      credential: {
        isClient: true,
        isApiKey: false,
        name: 'Cheese app',
        createdOn: '2026-06-01',
        createdBy: 'client:console/customer:5',
      },
    },
  };
}

/** A tree of names: what a template of this mail may use. Below a list are the names of its entries. */
export function toVariableTree(name: MailName): unknown {
  const samples = sampleVariables({ currency: 'USD' });
  const sample = samples[name];
  // Templates of all mails include the same parts, so an order has all variables: also those of one that is fetched.
  return 'order' in sample ? { ...sample, order: samples['order-ready'].order } : sample;
}
