/** Entity tags and the preconditions on them (RFC 9110, sections 8.8.3 and 13.1). */

import { AppError } from '../errors.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import type { Asset } from './asset.ts';
import { type RouteResponse, TextBody } from './response.ts';

/** The strong tag of a resource at one version. */
export function strongTag(version: number | string): string {
  return `"${version}"`;
}

export function etagHeader({ version }: Versioned): { readonly ETag: string } {
  return { ETag: strongTag(version) };
}

/** The answer that shows it. */
export function entityResponse(resource: Versioned, status: number): RouteResponse {
  return { status, headers: etagHeader(resource), body: new TextBody(resource.body) };
}

/** The weak tag of a list: it may be compressed on its way. */
export function weakTag(version: number | string): string {
  return `W/"${version}"`;
}

/** Content that clients keep, and revalidate before they use it again. */
export function revalidated(body: Asset, headers: Readonly<Record<string, string>> = {}): RouteResponse {
  return { status: 200, headers: { ...headers, ETag: weakTag(body.version) }, body };
}

/** Never changes at its URL: clients keep it for a year and ask for it again only under another URL. */
export const keptForever = { 'Cache-Control': 'public, max-age=31536000, immutable' } as const;

/** Content whose URL names its version. */
export function immutable(body: Asset): RouteResponse {
  return { status: 200, headers: { ...keptForever, ETag: weakTag(body.version) }, body };
}

/** If-None-Match: true where the client has this version already. Weak comparison. */
export function matchesIfNoneMatch(ifNoneMatch: string | undefined, tag: string): boolean {
  return (
    ifNoneMatch !== undefined &&
    (ifNoneMatch.trim() === '*' || tagsOf(ifNoneMatch).some((one) => opaque(one) === opaque(tag)))
  );
}

/** The check of If-Match for a service, which knows the stored version; undefined where the client named none. */
export function preconditionOf(ifMatch: string | undefined): Precondition | undefined {
  return ifMatch === undefined ? undefined : (version) => requireIfMatch(ifMatch, strongTag(version));
}

/** The header of routes that change `resource`. */
export function ifMatchFor(resource: string) {
  return {
    'If-Match': { type: 'string', description: `Change the ${resource} only at this ETag` },
  } as const;
}

/**
 * If-Match: the change goes ahead only where the client saw this version. Strong comparison.
 * @throws AppError preconditionFailed
 */
export function requireIfMatch(ifMatch: string | undefined, tag: string): void {
  if (ifMatch !== undefined && ifMatch.trim() !== '*' && !tagsOf(ifMatch).includes(tag)) {
    throw new AppError('preconditionFailed');
  }
}

function tagsOf(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, '');
}
