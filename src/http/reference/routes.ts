/** The routes of the reference: pages that need no script, and a page that sends requests. */
import { readFileSync } from 'node:fs';
import { AppError } from '../../errors.ts';
import { contentSecurityPolicy, pageHeaders } from '../pages/send-page.ts';
import { Asset } from '../responses/asset.ts';
import { documentedText, notFoundResponse } from '../responses/error-responses.ts';
import { immutable, revalidated } from '../responses/etag.ts';
import type { RouteResponse } from '../responses/response.ts';
import { type Route, route } from '../route.ts';
import { createInteractivePage, interactiveScriptPath } from './interactive-page.ts';
import type { ReferencePages } from './pages.ts';
import { interactivePath, referencePath, stylePath } from './paths.ts';

const headers = {
  'Content-Security-Policy': contentSecurityPolicy({ style: "'self'", formAction: "'none'" }),
  ...pageHeaders,
};

const common = { method: 'GET', tag: 'Operation', access: 'operational', compressible: true } as const;
const htmlPage = {
  ...common,
  mediaType: 'text/html; charset=utf-8',
  responses: { 200: documentedText('The page', 'text/html') },
} as const;

/** @param describe returns the OpenAPI document */
export function referenceRoutes(describe: () => unknown): Route[] {
  const interactive = createInteractivePage();
  let loading: Promise<ReferencePages> | undefined;
  const responses = new Map<string, RouteResponse>();

  /** Makes a page when it is first requested. Only names of the document are remembered, so the memory has a bound. */
  async function respond(path: string, make: (pages: ReferencePages) => string | null) {
    const known = responses.get(path);
    if (known !== undefined) {
      return known;
    }
    loading ??= load(describe);
    const text = make(await loading);
    if (text === null) {
      throw new AppError('notFound', `The reference has no page ${path}. Start at ${referencePath}.`);
    }
    const response = revalidated(new Asset(text), headers);
    responses.set(path, response);
    return response;
  }

  return [
    route({
      ...htmlPage,
      path: referencePath,
      operationId: 'getReference',
      summary: 'The reference: guides, all operations and all schemas',
      description:
        'Pages that need no script: guides, and a page for each operation and each schema of this document.',
      handle: () => respond(referencePath, (pages) => pages.overview()),
    }),
    route({
      ...htmlPage,
      path: '/docs/operations/:operationId',
      operationId: 'getReferenceOperation',
      summary: 'The reference of one operation',
      description: 'Parameters, bodies, responses and examples of an operation, by its operationId.',
      examples: { operationId: 'listCheeses' },
      responses: { ...htmlPage.responses, ...notFoundResponse('There is no such operation') },
      handle: ({ params: { operationId = '' } }) =>
        respond(`/docs/operations/${operationId}`, (pages) => pages.operation(operationId)),
    }),
    route({
      ...htmlPage,
      path: '/docs/schemas/:schemaName',
      operationId: 'getReferenceSchema',
      summary: 'The reference of one schema',
      description: 'The members of a schema by its name, and the operations that use it.',
      examples: { schemaName: 'Cheese' },
      responses: { ...htmlPage.responses, ...notFoundResponse('There is no such schema') },
      handle: ({ params: { schemaName = '' } }) =>
        respond(`/docs/schemas/${schemaName}`, (pages) => pages.schema(schemaName)),
    }),
    route({
      ...common,
      path: stylePath,
      operationId: 'getReferenceStyle',
      summary: 'The style of the reference',
      description: 'For the pages of the reference.',
      mediaType: 'text/css; charset=utf-8',
      responses: { 200: documentedText('The style', 'text/css') },
      handle: () => style,
    }),
    route({
      ...htmlPage,
      path: interactivePath,
      operationId: 'getInteractiveReference',
      summary: 'The page that sends requests',
      description: 'This document as a page, with requests that can be tried.',
      handle: async () => (await interactive()).page,
    }),
    route({
      ...common,
      path: interactiveScriptPath,
      operationId: 'getInteractiveReferenceScript',
      summary: 'The script of the page that sends requests',
      description: 'With the version of the page as `v`, it can be cached for a year.',
      mediaType: 'text/javascript; charset=utf-8',
      query: {
        v: {
          type: 'string',
          maxLength: 100,
          description: 'Version of the script; the current version can be cached for a year',
        },
      },
      responses: { 200: documentedText('The script', 'text/javascript') },
      handle: async ({ query }) => {
        const { script } = await interactive();
        return query.v === script.version ? immutable(script) : revalidated(script);
      },
    }),
  ];
}

const style = revalidated(new Asset(readFileSync(new URL('style.css', import.meta.url), 'utf8')));

async function load(describe: () => unknown): Promise<ReferencePages> {
  const { ReferencePages } = await import('./pages.ts');
  return new ReferencePages(describe() as ConstructorParameters<typeof ReferencePages>[0]);
}
