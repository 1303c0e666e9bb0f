/** The metadata of the MCP endpoint as a protected resource (RFC 9728): clients find the authorization server there. */

import { mcpPath, mcpScopes } from '../access/mcp.ts';
import type { Site } from '../http/area.ts';
import { type Route, route } from '../http/route.ts';
import { objectOf } from '../schema/parts.ts';

export const metadataPath = `/.well-known/oauth-protected-resource${mcpPath}`;

const strings = { type: 'array', items: { type: 'string' } } as const;
const url = { type: 'string', format: 'uri' } as const;

const ProtectedResource = {
  title: 'ProtectedResource',
  ...objectOf({
    resource: { ...url, description: 'The value of `resource` in requests for a token (RFC 8707)' },
    resource_name: { type: 'string' },
    authorization_servers: strings,
    scopes_supported: strings,
    bearer_methods_supported: strings,
    resource_documentation: url,
  }),
} as const;

/** @param issuer of the tokens, which is this server */
export function resourceMetadataRoute(issuer: () => string, site: () => Site): Route {
  return route({
    method: 'GET',
    path: metadataPath,
    operationId: 'getProtectedResource',
    tag: 'MCP',
    summary: 'Where to get tokens for the MCP endpoint',
    description: 'MCP clients read it before they ask a customer for permission (RFC 9728, section 3).',
    access: 'operational',
    responses: {
      200: {
        description: 'The metadata of RFC 9728',
        schema: ProtectedResource,
        example: metadataOf('https://cheese.example', 'Cheese shop'),
      },
    },
    handle: () => ({ status: 200, body: metadataOf(issuer(), site().name) }),
  });
}

function metadataOf(base: string, shopName: string) {
  return {
    resource: `${base}${mcpPath}`,
    resource_name: shopName,
    authorization_servers: [base],
    scopes_supported: mcpScopes,
    bearer_methods_supported: ['header'],
    resource_documentation: `${base}/docs`,
  };
}
