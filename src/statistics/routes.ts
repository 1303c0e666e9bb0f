/** Routes of statistics, for operators. */

import { anyOf, oauth } from '../access/access.ts';
import { badRequestResponse } from '../http/responses/error-responses.ts';
import { type Route, route } from '../http/route.ts';
import { limitParameter } from '../schema/parts.ts';
import { idRule } from '../schema/text-rules.ts';
import { measures } from './measures.ts';
import { momentRule, pointsMax, steps, zoneRule } from './periods.ts';
import { BestSellerList, StatisticsSeries } from './schemas.ts';
import type { StatisticsService } from './service.ts';

export const tag = 'Administration';
export const access = anyOf(oauth('admin'));
export const noStore = { 'Cache-Control': 'no-store' };
export const from = {
  type: 'string',
  maxLength: 40,
  rule: momentRule,
  isRequired: true,
  description: 'The beginning: a date, or an RFC 3339 time',
} as const;
export const to = {
  type: 'string',
  maxLength: 40,
  rule: momentRule,
  description: 'The end, which does not belong to the period: a date, or an RFC 3339 time; without it, now',
} as const;

export function statisticsRoutes(statistics: StatisticsService): Route[] {
  return [
    route({
      method: 'GET',
      path: '/statistics/series',
      operationId: 'getStatisticsSeries',
      examples: { measures: 'orders.placed,orders.placedValue', from: '2026-06-01' },
      tag,
      summary: 'Read how many orders, customers and cheeses there were in each hour, day, week or month',
      description: `Counted from the event log, a few seconds after each event; \`asOf\` names the last one. Values (\`orders.placedValue\`, \`orders.deliveredValue\`) are in the currency of the shop. \`orders.sold\` and \`orders.placedValue\` are of the orders that were placed in a step, without those that were cancelled since. A step that contains \`from\` or \`to\` is counted as a whole. At most ${pointsMax} steps.`,
      access,
      query: {
        measures: {
          type: 'array',
          isRequired: true,
          maxItems: 12,
          items: { type: 'string', enum: measures },
          description: 'What to count',
        },
        from,
        to,
        step: { type: 'string', enum: steps, default: 'day', description: 'Weeks begin on Monday' },
        zone: {
          type: 'string',
          maxLength: 64,
          rule: zoneRule,
          default: 'UTC',
          description: 'Time zone of dates, days and weeks, such as Europe/Zurich',
        },
      },
      responses: {
        200: { description: 'A series for each measure', schema: StatisticsSeries },
        ...badRequestResponse('A parameter is not valid'),
      },
      handle: async ({ query }) => ({
        status: 200,
        headers: noStore,
        body: { ...(await statistics.readSeries(query)) },
      }),
    }),
    route({
      method: 'GET',
      path: '/statistics/best-sellers',
      operationId: 'listBestSellers',
      examples: { from: '2026-06-01' },
      tag,
      summary: 'List the cheeses that sold best',
      description:
        'By the value of the orders that were placed in a period of days in UTC, without those that were cancelled since. Days that contain `from` or `to` are counted as a whole.',
      access,
      query: {
        from,
        to,
        limit: limitParameter('Cheeses in the list'),
        cheeseIds: {
          type: 'array',
          maxItems: 100,
          items: { type: 'string', rule: idRule },
          description: 'Only these cheeses: ids with commas',
        },
      },
      responses: {
        200: { description: 'Cheeses, the largest value first', schema: BestSellerList },
        ...badRequestResponse('A parameter is not valid'),
      },
      handle: async ({ query: { cheeseIds, ...query } }) => {
        const ids = cheeseIds?.map(Number);
        return {
          status: 200,
          headers: noStore,
          body: { ...(await statistics.listBestSellers({ ...query, cheeseIds: ids })) },
        };
      },
    }),
  ];
}
