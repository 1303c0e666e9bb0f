/** The state of one request on its way through the pipeline, and what the steps use. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../access/principal.ts';
import type { Clock } from '../clock.ts';
import type { Transaction } from '../database/database.ts';
import type { AppError } from '../errors.ts';
import type { ClientIpCount } from '../limits/client-ip-limits.ts';
import type { Overload } from '../limits/overload.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { RequestCharge } from '../limits/usage-counter.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Config } from '../settings/config.ts';
import type { IdempotencyStore } from '../stored-responses/store.ts';
import type { Uploads } from './bodies/uploads.ts';
import type { DryRun } from './pipeline/dry-run.ts';
import type { Guard } from './pipeline/guard.ts';
import type { RouteResponse } from './responses/response.ts';
import type { Route, ToolUse } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** null if the request has reached no route. */
    exchange: Exchange | null;
    /** A value of performance.now(). */
    startedAt: number;
  }
}

/** A fault that a request asks for, to test its client (sandbox/faults/). */
export interface Simulation {
  /** The error with which the request ends; null if it is processed. */
  readonly error: AppError | null;
  /** Closes the connection; null if a response is sent. */
  readonly replaceResponse: (() => void) | null;
}

/** Reports an error that occurs when a part of the response was sent. */
export type ReportFailure = (error: unknown, request: FastifyRequest) => void;

/** What tests can change outside of production (sandbox/test-state.ts). */
export interface ServerTestState {
  refresh(): MaybePromise<void>;
  /** The prefix of all ETags; may be empty. */
  tagPrefix(): string;
}

export interface PipelineDependencies {
  readonly guard: Guard;
  readonly rateLimits: RateLimits;
  readonly transaction: Transaction;
  readonly idempotency: IdempotencyStore;
  readonly uploads: Uploads;
  /** null in production. */
  readonly testState: ServerTestState | null;
  readonly overload: Overload;
  /** How long a body may take to arrive, and a cache may keep a public response. */
  readonly config: Pick<Config, 'requestTimeoutMs' | 'edgeCacheMs'>;
  readonly clock: Clock;
  /** See `Database`. */
  readonly hasOneServer: boolean;
  /** Called once for every response, for the metrics and the log. */
  readonly recordResponse: (request: FastifyRequest, status: number) => void;
  readonly reportFailure: ReportFailure;
  readonly reportDeprecated: (operationId: string, principal: string) => void;
  /** Begins what the header Sandbox-Simulate asks for; null if the header is ignored. */
  readonly simulate: ((exchange: Exchange, header: string) => MaybePromise<void>) | null;
}

/** Its fields are fixed, and none is a getter: getters on an object of each request once took a fifth of all CPU time. */
export class Exchange {
  readonly route: Route;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly dependencies: PipelineDependencies;
  readonly hasBody: boolean;
  /** One for each credential. */
  principals: readonly Principal[] = [];
  /** The one that may use the route. */
  principal: Principal | null = null;
  /** The client IP that a request with an API key states, as limits count it. */
  statedClientIp: string | null = null;
  /** How the request was counted, if it has a valid credential. */
  charge: RequestCharge | null = null;
  /** How the request was counted, if it has none. */
  clientIpCount: ClientIpCount | null = null;
  /** The body arrived, or a simulated delay ended, in a later turn of the event loop than the check of the credentials. */
  isCredentialOld = false;
  /** The tool that the request runs. */
  tool: ToolUse | null = null;
  /** How many members of the body no schema knows. */
  ignoredMembers = 0;
  /** null for a real request. */
  dryRun: DryRun | null = null;
  /** null unless the request asks for one. */
  simulation: Simulation | null = null;
  response: RouteResponse | null = null;
  tagPrefix = '';
  /** When parts of the request ended, by performance.now(); 0 before that. */
  credentialAt = 0;
  limitsAt = 0;
  handlerAt = 0;

  constructor(
    route: Route,
    request: FastifyRequest,
    reply: FastifyReply,
    dependencies: PipelineDependencies,
  ) {
    this.route = route;
    this.request = request;
    this.reply = reply;
    this.dependencies = dependencies;
    this.hasBody = announcesBody(request.headers);
  }
}

function announcesBody(headers: IncomingHttpHeaders): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}
