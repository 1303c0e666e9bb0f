/** The MCP endpoint as a route: the pipeline checks the credential, the origin, the limits and the size of the message. */
import { mcpPath } from '../access/mcp.ts';
import { ErrorSchema } from '../http/responses/error-responses.ts';
import type { RouteResponse } from '../http/responses/response.ts';
import { type Route, route } from '../http/route.ts';
import type { McpRequest } from './protocol.ts';

/** The largest message. */
const messageBytesMax = 64 * 1024;
/**
 * An order of 100 lines has 400. The library of the protocol describes each value that it refuses in 240 bytes: 9,000
 * values in 18 KB were 60 ms without a pause, and a response of 2 MB.
 */
const messageValuesMax = 1000;

const id = { type: ['string', 'number', 'null'] } as const;
const anyObject = { type: 'object', additionalProperties: true } as const;

const McpMessage = {
  title: 'McpMessage',
  description: 'One message of JSON-RPC. Batches are not supported',
  type: 'object',
  additionalProperties: true,
  required: ['jsonrpc'],
  properties: { jsonrpc: { type: 'string' } },
  examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }],
} as const;

const McpResponse = {
  title: 'McpResponse',
  type: 'object',
  required: ['jsonrpc'],
  properties: { jsonrpc: { type: 'string' }, id, result: anyObject, error: anyObject },
  examples: [{ jsonrpc: '2.0', id: 1, result: { tools: [] } }],
} as const;

interface Dependencies {
  readonly respond: (request: McpRequest) => Promise<RouteResponse>;
  readonly metadataUrl: () => string;
  /** The values of Origin that are not refused. */
  readonly origins: () => readonly string[];
}

export function mcpRoute({ respond, metadataUrl, origins }: Dependencies): Route {
  return route({
    method: 'POST',
    path: mcpPath,
    isAtRoot: true,
    operationId: 'sendMcpMessage',
    tag: 'MCP',
    summary: 'Send a message of the Model Context Protocol',
    description:
      'AI assistants search cheeses and order them here, with the tools that `tools/list` returns. Use an MCP client, not this page. Each message is one request for the limits. A token must be requested with `resource`, the URL of this path.',
    access: 'any credential',
    resource: { audience: 'mcp', metadataUrl },
    origins,
    dryRun: 'none',
    body: McpMessage,
    bodyFailsAs: 'badRequest',
    bodyBytesMax: messageBytesMax,
    bodyValuesMax: messageValuesMax,

    responses: {
      200: { description: 'The response to the message', schema: McpResponse },
      202: { description: 'The message needs no response' },
      400: {
        description: 'The message, a header or the version of the protocol is not valid',
        schema: { anyOf: [ErrorSchema, McpResponse] },
        example: { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid Request' } },
      },
      403: {
        description: 'The credential lacks a scope that the tool needs, or the page has another origin',
        schema: ErrorSchema,
        example: { code: 403, type: 'forbidden', message: 'The credential does not permit this.' },
      },
      404: {
        description: 'The method of the message is not known',
        schema: McpResponse,
        example: { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found' } },
      },
    },
    handle: ({ body, ...request }) => respond({ ...request, message: body as McpRequest['message'] }),
  });
}
