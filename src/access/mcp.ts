/** The MCP endpoint as a protected resource, which has tokens of its own (RFC 8707). */
import type { Scope } from './access.ts';

export const mcpPath = '/mcp';

/** The scopes that tools of the MCP endpoint need. Tokens for it have no others. */
export const mcpScopes: readonly Scope[] = ['read:cheeses', 'read:orders', 'write:orders'];
