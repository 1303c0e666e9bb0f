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
  /** Amount with the currency, in the language of the shop, like all prices. */
  readonly total: string;
  readonly shippingAddress: {
    /** The recipient: the customer where the order names none. */
    readonly name: string;
    readonly company: string | null;
    readonly street: string;
    readonly street2: string | null;
    readonly city: string;
    readonly state: string | null;
    readonly zipCode: string | null;
    readonly country: string;
  };
  readonly shipDate: string | null;
  /** Why the order was cancelled, where the server or an operator has said so. */
  readonly reason: string | null;
  /** The shop's own page of the order; null without CURD_ORDER_URL. */
  readonly url: string | null;
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

/** How an order travels; null where nobody has recorded it. */
interface ShipmentVariables {
  readonly carrier: string | null;
  readonly trackingNumber: string | null;
  readonly trackingUrl: string | null;
}

export interface MailVariables {
  readonly 'order-placed': OrderMail;
  readonly 'order-shipped': OrderMail & { readonly shipment: ShipmentVariables | null };
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
  total: showPrice(47.5, style),
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
export function variablesOf(name: MailName): unknown {
  return sampleVariables({ currency: 'USD' })[name];
}
