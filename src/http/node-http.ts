/**
 * Values of node:http. An import statement reads every export of a module, and WebSocket among those of node:http loads an
 * HTTP client that the server does not use: 36 ms of its start. `require` reads what is used.
 */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export const { Agent, request, STATUS_CODES } = require('node:http') as typeof import('node:http');
