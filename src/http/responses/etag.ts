/** Entity tags, the preconditions on them (RFC 9110, sections 8.8.3 and 13.1), and their prefix after a restore. */

import { AppError } from '../../errors.ts';
import type { Precondition, Versioned } from '../../versioned.ts';
import type { Exchange } from '../exchange.ts';
import type { Asset } from './asset.ts';
import { type RouteResponse, TextBody } from './response.ts';

/** The strong tag of a resource at one version. */
export function strongTag(version: number | string): string {
  return `"${version}"`;
}

export function etagHeader({ version }: Versioned): { readonly ETag: string } {
  return { ETag: strongTag(version) };
}

/** The response with a resource and its ETag. */
export function entityResponse(resource: Versioned, status: number): RouteResponse {
  return { status, headers: etagHeader(resource), body: new TextBody(resource.body) };
}

/** The weak tag of content that may be compressed, which changes its bytes. */
export function weakTag(version: number | string): string {
  return `W/"${version}"`;
}

/** Content that clients cache and revalidate before each use. */
export function revalidated(body: Asset, headers: Readonly<Record<string, string>> = {}): RouteResponse {
  return { status: 200, headers: { ...headers, ETag: weakTag(body.version) }, body };
}

/** Headers of content that never changes at its URL: clients cache it for a year. */
export const keptForever = { 'Cache-Control': 'public, max-age=31536000, immutable' } as const;

/** Content with its version in the URL. */
export function immutable(body: Asset): RouteResponse {
  return { status: 200, headers: { ...keptForever, ETag: weakTag(body.version) }, body };
}

/** If-None-Match: does the client have this version? Weak comparison. */
export function matchesIfNoneMatch(ifNoneMatch: string | undefined, tag: string): boolean {
  return (
    ifNoneMatch !== undefined &&
    (ifNoneMatch.trim() === '*' || tagsOf(ifNoneMatch).some((known) => opaque(known) === opaque(tag)))
  );
}

/** The check of If-Match, for a service that reads the stored version; undefined without the header. */
export function toPrecondition(ifMatch: string | undefined): Precondition | undefined {
  return ifMatch === undefined ? undefined : (version) => requireIfMatch(ifMatch, strongTag(version));
}

/** The header of routes that change `resource`. */
export function ifMatchFor(resource: string) {
  return {
    'If-Match': { type: 'string', description: `Change the ${resource} only at this ETag` },
  } as const;
}

/**
 * If-Match: a change is made only to a version that the client has seen. Strong comparison.
 * @throws AppError preconditionFailed
 */
export function requireIfMatch(ifMatch: string | undefined, tag: string): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') {
    return;
  }
  const tags = tagsOf(ifMatch);
  if (!tags.includes(tag)) {
    throw new AppError('preconditionFailed', tags.some(isStrong) ? undefined : noStrongTag);
  }
}

/** The message if reading the resource again would not help. */
const noStrongTag =
  'If-Match has no ETag that can match. Send the ETag of a response with its quotes and without W/, such as "3".';

const isStrong = (tag: string) => !tag.startsWith('W/');

/** Servers that compress responses add the encoding to the tag: Apache `"1-gzip"`, Jetty `"1--gzip"`. */
const encodingSuffix = /-{1,2}(?:gzip|deflate|br|zstd)"$/;

function tagsOf(header: string): string[] {
  const tags = header.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return [
    ...tags,
    ...tags.flatMap((tag) => (encodingSuffix.test(tag) ? tag.replace(encodingSuffix, '"') : [])),
  ];
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, '');
}

const conditions = ['if-match', 'if-none-match', 'if-range'] as const;
/** Never equals an ETag of a response. */
const neverEqual = '"-"';

/**
 * Applies the prefix of all ETags, which changes when the database goes back to an earlier state: no client then takes an
 * ETag of before for one of the present. Handlers and services do not see it, because it is removed from the conditions
 * of the request first.
 */
export function applyTagPrefix(exchange: Exchange): void {
  const { dependencies, request } = exchange;
  const prefix = dependencies.testState?.tagPrefix() ?? '';
  if (prefix === '') {
    return;
  }
  exchange.tagPrefix = prefix;
  for (const name of conditions) {
    const value = request.headers[name];
    if (value !== undefined) {
      request.headers[name] = withoutPrefix(String(value), prefix);
    }
  }
}

function withoutPrefix(tags: string, prefix: string): string {
  return tags.replace(/"([^"]*)"/g, (_, tag: string) =>
    tag.startsWith(prefix) ? `"${tag.slice(prefix.length)}"` : neverEqual,
  );
}

/** The ETag of a response with the prefix. */
export function withTagPrefix(tag: string, prefix: string): string {
  return tag.replace('"', `"${prefix}`);
}
