/**
 * Errors without text of the request. Messages quote what a body contains, so quoted text is removed; values of the path
 * and of the query are removed wherever they occur. Names of fields are kept if the route declares them.
 */
import type { FastifyRequest } from 'fastify';
import { type AppError, errorCatalogue, joinErrors } from '../errors.ts';
import { singleHeaders } from '../http/repeated-headers.ts';
import type { Route } from '../http/route.ts';
import { parametersIn } from '../http/route.ts';

/** Errors of one item. */
export const keptErrorsMax = 20;
const messageCharactersMax = 500;
/** Values of the path and the query that are looked for. */
const valuesMax = 100;
const removed = '…';

/** The first errors, with the names of unknown fields removed, and how many there are besides. */
export function redactedErrors(error: AppError | null, request: FastifyRequest) {
  const all = error?.errors ?? [];
  const values = all.length === 0 ? [] : textsOf(request);
  const { route = request.exchange?.route, input } = request.exchange?.tool ?? {};
  const names = all.length === 0 ? commonNames : namesOf(route).union(new Set(propertiesIn(input)));
  const errors = all.slice(0, keptErrorsMax).map(({ field, message }) => ({
    field: isDeclared(field, names) ? field : removed,
    message: withoutTexts(message, values),
  }));
  return { errors, unlisted: all.length - errors.length };
}

/** The message. That of a validation error is made of the first redacted one of `errors`. */
export function redactedMessage(error: AppError, request: FastifyRequest): string {
  if (error.errors.length > 0) {
    const { errors } = redactedErrors(error, request);
    const others = error.errors.length - 1;
    return `${errorCatalogue[error.code].message} ${joinErrors(errors.slice(0, 1))}${others > 0 ? ` (and ${others} more)` : ''}`;
  }
  return withoutTexts(error.message, textsOf(request));
}

function withoutTexts(message: string, texts: readonly string[]): string {
  const unquoted = message.replace(/"[^"]*"/g, `"${removed}"`);
  const found = texts.reduce((text, one) => withoutText(text, one), unquoted);
  return found.length > messageCharactersMax
    ? `${found.slice(0, messageCharactersMax).toWellFormed()}${removed}`
    : found;
}

/** Removes a text if it is not a part of a longer word. */
function withoutText(message: string, text: string): string {
  let result = '';
  let rest = message;
  for (let at = rest.indexOf(text); at !== -1; at = rest.indexOf(text)) {
    const [before, after] = [rest[at - 1] ?? ' ', rest[at + text.length] ?? ' '];
    const isWord = !/[\p{L}\p{N}_]/u.test(before) && !/[\p{L}\p{N}_]/u.test(after);
    result += rest.slice(0, at) + (isWord ? removed : text);
    rest = rest.slice(at + text.length);
  }
  return result + rest;
}

/** Values of path parameters, and names and values of query parameters, except names that the route declares. */
function textsOf(request: FastifyRequest): readonly string[] {
  const params = Object.values((request.params ?? {}) as Record<string, string>);
  const names = new Set(Object.keys(request.exchange?.route.query ?? {}));
  const query = request.query instanceof URLSearchParams ? [...request.query] : [];
  const path = request.url.split('?', 1)[0] ?? '';
  const texts = [
    ...params.flatMap((value) => [value, ...value.split(/[^\p{L}\p{N}_.-]+/u)]),
    ...path.split('/').filter((part) => part !== 'v2' && request.is404 && part !== ''),
    ...query.flatMap(([name, value]) => [...(names.has(name) ? [] : [name]), value, ...value.split(',')]),
  ];
  // The longest first: a shorter one can be a part of it.
  return [...new Set(texts)]
    .filter((text) => text !== '' && !idPattern.test(text))
    .slice(0, valuesMax)
    .sort((a, b) => b.length - a.length);
}

/** Ids of orders and cheeses are no text. */
const idPattern = /^\d{1,15}$/;

const namesByRoute = new WeakMap<Route, ReadonlySet<string>>();
/** Headers and parameters of every route. */
const commonNames: ReadonlySet<string> = new Set([
  'Curd-Client-IP',
  'Dry-Run',
  'Host',
  'Idempotency-Key',
  'Sandbox-Simulate',
  'key',
  ...singleHeaders,
]);

/** The names of all fields and parameters that the route declares. */
function namesOf(route: Route | undefined): ReadonlySet<string> {
  if (route === undefined) {
    return commonNames;
  }
  let names = namesByRoute.get(route);
  if (names === undefined) {
    const { query = {}, headers = {}, body, upload, unchangeable } = route;
    names = new Set([
      ...commonNames,
      ...parametersIn(route.path),
      ...Object.keys(query),
      ...Object.keys(headers),
      ...(unchangeable?.fields ?? []),
      ...(upload === undefined ? [] : [upload.fileField, ...Object.keys(upload.fields)]),
      ...propertiesIn(body),
    ]);
    namesByRoute.set(route, names);
  }
  return names;
}

function propertiesIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) {
    return [];
  }
  const { properties = {} } = schema as { readonly properties?: object };
  return [...Object.keys(properties), ...Object.values(schema).flatMap(propertiesIn)];
}

/** `items[0].quantity`; also `""`, the whole body. */
function isDeclared(field: string, names: ReadonlySet<string>): boolean {
  return field.split('.').every((part) => {
    const name = part.split('[', 1)[0] ?? '';
    return name === '' || names.has(name);
  });
}
