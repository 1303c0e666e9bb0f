/** Sends error responses: JSON, or a page if a person opened a URL at which there is nothing. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../clock.ts';
import type { AppError } from '../../errors.ts';
import type { Config } from '../../settings/config.ts';
import type { Site } from '../area.ts';
import { plainPage, plainPageHeaders } from '../pages/plain-page.ts';
import { errorBody } from './error-body.ts';
import { toErrorHeaders, toErrorStatus } from './error-mapping.ts';
import { findQuality } from './quality-values.ts';
import { closeIfStopping, setClockHeader } from './send-response.ts';

/** Returns a function that sends an error. */
export function createErrorSender(
  config: Pick<Config, 'console'>,
  site: () => Pick<Site, 'name'>,
  clock: Clock,
) {
  return (error: AppError, request: FastifyRequest, reply: FastifyReply): void => {
    const replaceResponse = request.exchange?.simulation?.replaceResponse ?? null;
    if (replaceResponse !== null) {
      replaceResponse();
      return;
    }
    closeIfStopping(reply);
    setClockHeader(reply, clock);
    reply.code(toErrorStatus(error)).headers(toErrorHeaders(error)).header('Cache-Control', 'no-store');
    nameResource(request, reply);
    if (toErrorStatus(error) === 404 && isByPerson(request)) {
      reply.headers(plainPageHeaders).send(notFoundPage(site().name, config));
      return;
    }
    const path = request.url.split('?', 1)[0] ?? '';
    const { mediaType, text } = errorBody(error, request.headers.accept, path);
    reply.header('Content-Type', mediaType).send(text);
  };
}

/** What a browser shows for a URL of this server at which there is nothing. */
function notFoundPage(shopName: string, { console }: Pick<Config, 'console'>): string {
  return plainPage({
    title: `Not found - ${shopName}`,
    heading: 'There is nothing at this URL',
    text: `Check the address, or continue at one of these pages of ${shopName}.`,
    links: [
      { path: '/', text: 'Start page' },
      ...(console === 'on' ? [{ path: '/console', text: 'Console' }] : []),
      { path: '/docs', text: 'API reference' },
    ],
  });
}

/** The challenge of a protected resource names its metadata (RFC 9728, section 5.1). */
function nameResource({ exchange }: FastifyRequest, reply: FastifyReply): void {
  const challenge = reply.getHeader('www-authenticate');
  const metadataUrl = exchange?.route.resource?.metadataUrl();
  if (challenge !== undefined && metadataUrl !== undefined) {
    reply.header('WWW-Authenticate', `${challenge}, resource_metadata="${metadataUrl}"`);
  }
}

/** Resources of the API are JSON for everybody, also if there is none with the id of the URL. */
function isByPerson({ method, url, is404, headers }: FastifyRequest): boolean {
  return (
    ['GET', 'HEAD'].includes(method) && (is404 || !url.startsWith('/v2/')) && prefersHtml(headers.accept)
  );
}

/** Browsers name text/html; many programs send only a wildcard, and others name JSON as well. */
function prefersHtml(accept = ''): boolean {
  const json = ['application/json', 'application/problem+json'].map((type) => findQuality(accept, type) ?? 0);
  return (findQuality(accept, 'text/html') ?? 0) > Math.max(...json);
}
