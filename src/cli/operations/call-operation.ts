/** Runs operations of the API in this process, as an operator. A server need not run. */
import { scopes } from '../../access/access.ts';
import type { Principal } from '../../access/principal.ts';
import type { ComposedShop } from '../../app/compose.ts';
import type { Context } from '../../database/context.ts';
import { Effects, rollingBack } from '../../database/dry-run.ts';
import { execute, type RouteInput } from '../../http/pipeline/execute.ts';
import { TextBody } from '../../http/responses/response.ts';
import { fullPath, parametersIn, type Route } from '../../http/route.ts';
import { ConfigError } from '../../settings/parsers.ts';
import type { Result, Values } from './operation.ts';

/** Whoever runs commands is an operator. */
const operator: Principal = {
  kind: 'apiKey',
  id: 'cli',
  accountId: null,
  plan: 'enterprise',
  scopes: new Set(scopes),
  audience: 'any',
  limits: null,
  customerId: null,
  confinedTo: null,
  expiresAt: null,
  sessionHash: null,
  tokenHash: null,
};

/**
 * @param values parameters of the path, query parameters and members of the body, by their names
 * @returns the body of the response; undefined if it has none
 * @throws AppError, and ConfigError if the environment of the shop has no such operation
 */
export async function callOperation(
  shop: ComposedShop,
  operationId: string,
  values: Values,
  context: Context = shop.contextOf('cli'),
): Promise<Result> {
  return (await callForResponse(shop, operationId, values, context)).body;
}

/** The response of an operation as `callOperation` returns it, with its ETag. @param values `If-Match` is the header */
export async function callForResponse(
  shop: ComposedShop,
  operationId: string,
  values: Values,
  context: Context = shop.contextOf('cli'),
): Promise<{ readonly body: Result; readonly etag: string | undefined }> {
  const input = inputFor(shop, operationId, values, context);
  const { body, headers } = await execute(findRoute(shop, operationId), input);
  return { body: body instanceof TextBody ? JSON.parse(body.text) : body, etag: headers?.ETag };
}

function findRoute({ areas, config }: ComposedShop, operationId: string): Route {
  const route = areas.flatMap(({ routes = [] }) => routes).find((one) => one.operationId === operationId);
  if (route === undefined) {
    throw new ConfigError(
      `A ${config.environment} shop does not have this command. It is for local and sandbox shops.`,
    );
  }
  return route;
}

function inputFor(shop: ComposedShop, operationId: string, values: Values, context: Context): RouteInput {
  const route = findRoute(shop, operationId);
  const given = (names: readonly string[]) => names.filter((name) => values[name] !== undefined);
  const params = given(parametersIn(fullPath(route))).map((name) => [name, String(values[name])]);
  const query = given(Object.keys(route.query ?? {})).flatMap((name) =>
    [values[name]].flat().map((value) => [name, String(value)]),
  );
  const members = Object.keys(route.body?.properties ?? {}).map((name) => [name, memberOf(values, name)]);
  const ifMatch = values['If-Match'];
  return {
    ...context,
    url: fullPath(route),
    params: Object.fromEntries(params),
    query: new URLSearchParams(query),
    headers: ifMatch === undefined ? {} : { 'if-match': String(ifMatch) },
    body: { value: Object.fromEntries(members.filter(([, value]) => value !== undefined)) },
    principal: operator,
    idempotency: shop.idempotency.store,
    clientIp: () => '127.0.0.1',
    visitorIp: () => null,
    rateLimitStatus: () => null,
    countAs: () => undefined,
    openConnection: () => {
      throw new Error(`${operationId} needs a connection.`);
    },
    inner: (_route, isDryRun) => ({
      principal: operator,
      ...(isDryRun ? dryContext(shop, context) : context),
    }),
    noteTool: () => {},
    noteIgnored: () => {},
    receive: null,
  };
}

/** A member of the body, which can be an object whose members are given one by one. */
function memberOf(values: Values, name: string): unknown {
  const inner = Object.entries(values).filter(
    ([path, value]) => path.startsWith(`${name}.`) && value !== undefined,
  );
  return inner.length === 0
    ? values[name]
    : Object.fromEntries(inner.map(([path, value]) => [path.slice(name.length + 1), value]));
}

function dryContext({ clock }: ComposedShop, { transaction, origin }: Context): Context {
  const effects = new Effects();
  return { transaction: rollingBack(transaction, effects, clock), origin: { ...origin, effects } };
}
