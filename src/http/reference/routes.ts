/** The routes of the reference. */
import { readFileSync } from 'node:fs';
import { AppError } from '../../errors.ts';
import { contentSecurityPolicy, pageHeaders } from '../pages/send-page.ts';
import { Asset } from '../responses/asset.ts';
import { documentedText, notFoundResponse } from '../responses/error-responses.ts';
import { revalidated } from '../responses/etag.ts';
import type { RouteResponse } from '../responses/response.ts';
import { type Route, route } from '../route.ts';
import type { ReferencePages } from './pages.ts';
import { referencePath, scriptPath, stylePath } from './paths.ts';

/** The form of an operation is sent by a script of this server, and to this server alone. */
const headers = {
  'Content-Security-Policy': `${contentSecurityPolicy({ style: "'self'", formAction: "'none'" })}; script-src 'self'; connect-src 'self'`,
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
        'Guides, and a page for each operation and each schema of this document. They are readable without a script.',
      handle: () => respond(referencePath, (pages) => pages.overview()),
    }),
    route({
      ...htmlPage,
      path: '/docs/operations/:operationId',
      operationId: 'getReferenceOperation',
      summary: 'The reference of one operation',
      description:
        'Parameters, bodies, responses and examples of an operation, by its operationId, and a form that sends its request.',
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
      ...common,
      path: scriptPath,
      operationId: 'getReferenceScript',
      summary: 'The script of the reference',
      description: 'It sends the request of an operation from its page.',
      mediaType: 'text/javascript; charset=utf-8',
      responses: { 200: documentedText('The script', 'text/javascript') },
      handle: () => script,
    }),
  ];
}

const assetOf = (file: string) =>
  revalidated(new Asset(readFileSync(new URL(file, import.meta.url), 'utf8')));
const style = assetOf('style.css');
const script = assetOf('send-request.js');

async function load(describe: () => unknown): Promise<ReferencePages> {
  const { ReferencePages } = await import('./pages.ts');
  return new ReferencePages(describe() as ConstructorParameters<typeof ReferencePages>[0]);
}
