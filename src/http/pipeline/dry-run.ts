/** The header Dry-Run: a request that runs completely, and whose change is then rolled back. */

import type { IncomingHttpHeaders } from 'node:http';
import type { Effects } from '../../database/dry-run.ts';
import { type AppError, parameterError } from '../../errors.ts';
import { objectOf } from '../../schema/parts.ts';
import type { Parameters, Schema } from '../../schema/schema.ts';
import { type RouteResponse, TextBody } from '../responses/response.ts';
import { isChange, type Route } from '../route.ts';

/** `effects` responds with a list of what would change; `true` with the response of the real request. */
export type DryRunMode = 'true' | 'effects';

export interface DryRun {
  readonly mode: DryRunMode;
  readonly effects: Effects;
}

export const DryRunResult = {
  title: 'DryRunResult',
  description: 'What a request would have done, in response to `Dry-Run: effects`',
  ...objectOf({
    status: { type: 'integer', description: 'The status that the request would have got' },
    headers: { type: 'object', description: 'Headers of that response' },
    body: { description: 'Body of that response; null where it has none' },
    effects: {
      type: 'array',
      description:
        'In order: events with `type`, `subject` and `data`, and other changes with `type` and `count`',
      items: {
        type: 'object',
        required: ['type'],
        properties: {
          type: { type: 'string' },
          subject: { type: 'string' },
          data: { type: 'object' },
          count: { type: 'integer' },
        },
      },
    },
    more: { type: 'integer', description: 'How many effects are not listed' },
  }),
  examples: [
    {
      status: 204,
      headers: {},
      body: null,
      effects: [
        {
          type: 'order.cancelled',
          subject: 'order:31',
          data: { id: 31, status: 'cancelled', total: 40, reason: 'Gruyère was taken out of the catalogue' },
        },
        { type: 'favourites.detached', count: 2 },
      ],
      more: 0,
    },
  ],
} as const satisfies Schema;

/** The parameter of the OpenAPI document. */
export const dryRunHeader = {
  'Dry-Run': {
    type: 'string',
    description:
      '`true`: the request changes nothing and returns the response that it would get. `effects`: the same, as 200 with a DryRunResult. `false`: a real request',
  },
} as const satisfies Parameters;

/** Ids in them would be those of nothing, and no version is stored. */
const leftOut = ['Location', 'ETag', 'Idempotency-Replayed', 'Cache-Control'];

/** The mode that the header asks for; null for a real request, undefined if the header is not valid. */
function dryRunMode(header: string | undefined): DryRunMode | null | undefined {
  if (header === undefined) {
    return null;
  }
  // Node joins the values of repeated headers.
  const values = new Set(header.split(',').map((value) => value.trim().toLowerCase()));
  const [value] = values;
  if (values.size > 1) {
    return;
  }
  return value === 'false' ? null : value === 'true' || value === 'effects' ? value : undefined;
}

/**
 * The header of every response to a dry run, so that a client knows that the server understands it: a server that does
 * not would make the change.
 */
export function dryRunEcho(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const mode = dryRunMode(headers['dry-run'] as string | undefined);
  return mode ? { 'Dry-Run': mode } : {};
}

/**
 * Reads the header before anything is done. Null for a real request.
 * @throws AppError badRequest for another value, and if the route has no dry run; and what `newEffects` throws
 */
export function readDryRun(
  route: Route,
  headers: IncomingHttpHeaders,
  newEffects: () => Effects,
): DryRun | null {
  const mode = requireDryRunMode(headers['dry-run']);
  if (mode === null || !isChange(route)) {
    return null;
  }
  if (route.dryRun === 'none') {
    throw noDryRun();
  }
  return { mode, effects: newEffects() };
}

/** @throws AppError badRequest */
export function requireDryRunMode(header: IncomingHttpHeaders[string]): DryRunMode | null {
  const mode = dryRunMode(header as string | undefined);
  if (mode === undefined) {
    throw parameterError('Dry-Run', 'must be true, effects or false. Nothing was done.');
  }
  return mode;
}

export function noDryRun(): AppError {
  return parameterError('Dry-Run', 'this operation has no dry run. Nothing was done.');
}

/** The response to a dry run, from the one that the real request would have got. */
export function dryRunResponse({ mode, effects }: DryRun, response: RouteResponse): RouteResponse {
  const { status, headers = {}, body } = response;
  if (mode === 'true') {
    return { ...response, headers: { ...withoutLeftOut(headers), 'Cache-Control': 'no-store' } };
  }
  const text = body instanceof TextBody ? body.text : JSON.stringify(body ?? null);
  const shown = JSON.stringify(withoutLeftOut(headers));
  return {
    status: 200,
    headers: { 'Cache-Control': 'no-store' },
    body: new TextBody(
      `{"status":${status},"headers":${shown},"body":${text},"effects":[${effects.listed}],"more":${effects.more}}`,
    ),
  };
}

function withoutLeftOut(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !leftOut.includes(name)));
}
