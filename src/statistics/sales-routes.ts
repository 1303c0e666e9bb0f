/** Routes of sales by category, country and customer, for operators. */
import { badRequestResponse } from '../http/responses/error-responses.ts';
import { type Route, route } from '../http/route.ts';
import { access, from, noStore, tag, to } from './routes.ts';
import type { SalesReader } from './sales.ts';
import { CategorySales, CountrySales, CustomerSales } from './sales-schemas.ts';

const period =
  'Of the orders that were placed in a period of at most 3660 days in UTC, without those that were cancelled since. Days that contain `from` or `to` are counted as a whole.';
const examples = { from: '2026-06-01' };
const refused = badRequestResponse('A parameter is not valid, or the period is too long');

export function salesRoutes(sales: SalesReader): Route[] {
  return [
    route({
      method: 'GET',
      path: '/statistics/sales-by-category',
      operationId: 'listSalesByCategory',
      examples,
      tag,
      summary: 'List what was sold of each category',
      description: `${period} A cheese belongs to the category that it has now.`,
      access,
      query: {
        from,
        to,
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 1000,
          default: 100,
          description: 'Categories in the list. `total` is the sum of all',
        },
      },
      responses: {
        200: { description: 'Categories, the largest value first', schema: CategorySales },
        ...refused,
      },
      handle: async ({ query }) => ({
        status: 200,
        headers: noStore,
        body: { ...(await sales.listByCategory(query)) },
      }),
    }),
    route({
      method: 'GET',
      path: '/statistics/sales-by-country',
      operationId: 'listSalesByCountry',
      examples,
      tag,
      summary: 'List the orders to each country',
      description: period,
      access,
      query: { from, to },
      responses: {
        200: { description: 'All countries with orders, the largest value first', schema: CountrySales },
        ...refused,
      },
      handle: async ({ query }) => ({
        status: 200,
        headers: noStore,
        body: { ...(await sales.listByCountry(query)) },
      }),
    }),
    route({
      method: 'GET',
      path: '/statistics/sales-by-customer',
      operationId: 'listSalesByCustomer',
      examples,
      tag,
      summary: 'List the orders of new and of returning customers',
      description: `${period} The first order of a customer stays the first when it is cancelled, and when the customer is deleted.`,
      access,
      query: { from, to },
      responses: {
        200: { description: 'The three kinds of customers', schema: CustomerSales },
        ...refused,
      },
      handle: async ({ query }) => ({
        status: 200,
        headers: noStore,
        body: { ...(await sales.listByCustomer(query)) },
      }),
    }),
  ];
}
