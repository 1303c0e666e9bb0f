/** Runs a tool: validates its arguments, runs its routes, and makes its result, also of a refusal. */
import type { Clock } from '../clock.ts';
import { AppError, isFailure, requireNoErrors } from '../errors.ts';
import { errorBody } from '../http/responses/error-body.ts';
import { toErrorHeaders } from '../http/responses/error-mapping.ts';
import { type RouteResponse, TextBody } from '../http/responses/response.ts';
import type { Route, RouteRequest } from '../http/route.ts';
import { validate } from '../schema/validate.ts';
import type { Tool, ToolCall } from './tools.ts';

/** A longer text would displace what else a model has to remember. */
const textLengthMax = 8000;

export type ToolRequest = Pick<
  RouteRequest<unknown, unknown, unknown, unknown>,
  'authorizeFor' | 'runRoute' | 'noteTool'
>;

/** The result of the protocol. */
export interface ToolResult {
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError?: true;
}

export type RunTool = (tool: Tool, given: unknown, request: ToolRequest) => Promise<ToolResult>;

/** @param routes by operationId */
export function createToolRunner(routes: ReadonlyMap<string, Route>, clock: Clock): RunTool {
  const newKey = () => Buffer.from(clock.random(16)).toString('base64url');

  /** @throws AppError for the HTTP level: see `isForHttp` */
  return async (tool, given, { authorizeFor, runRoute, noteTool }) => {
    const route = routes.get(tool.operationId) as Route;
    const note = (error: AppError | null) => noteTool({ name: tool.name, route, input: tool.input, error });
    note(null);
    authorizeFor(route);
    const send: ToolCall['send'] = async (operationId, request) => {
      const headers = { ...request.headers, prefer: 'handling=strict' };
      const response = await runRoute(routes.get(operationId) as Route, { ...request, headers });
      return { body: jsonOf(response), headers: response.headers ?? {} };
    };
    try {
      return resultOf(await tool.run({ input: inputOf(tool, given), send, newKey }));
    } catch (error) {
      if (!(error instanceof AppError) || isForHttp(error)) {
        throw error;
      }
      note(error);
      return { ...resultOf(refusalOf(error)), isError: true };
    }
  };
}

/** Members that are not in the schema are errors: a model must not believe that they had an effect. @throws AppError validation */
function inputOf({ input }: Tool, given: unknown): Readonly<Record<string, unknown>> {
  const { value, errors } = validate(input, given ?? {}, true);
  requireNoErrors(errors);
  return value as Readonly<Record<string, unknown>>;
}

/** Clients act on these, not models: they authorize again, or wait. */
function isForHttp({ code, details }: AppError): boolean {
  const hasScopes = details !== undefined && 'scopes' in details && details.scopes.length > 0;
  const isRateLimit = details !== undefined && 'refusedBy' in details;
  return code === 'unauthorized' || isFailure(code) || hasScopes || isRateLimit;
}

function jsonOf({ body = {} }: RouteResponse): Readonly<Record<string, unknown>> {
  return body instanceof TextBody ? JSON.parse(body.text) : (body as Readonly<Record<string, unknown>>);
}

/** The error body of the API, with what a model needs to go on. */
function refusalOf(error: AppError): Record<string, unknown> {
  const { details } = error;
  const retryAfter = toErrorHeaders(error)['Retry-After'];
  return {
    ...JSON.parse(errorBody(error, undefined, '').text),
    ...(details !== undefined && 'total' in details ? { total: details.total } : {}),
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: Number(retryAfter) }),
  };
}

function resultOf(content: Readonly<Record<string, unknown>>): ToolResult {
  const text = JSON.stringify(content);
  const shown =
    text.length <= textLengthMax
      ? text
      : `${text.slice(0, textLengthMax).toWellFormed()}\n[This text was cut at ${textLengthMax} characters. structuredContent is complete.]`;
  return { content: [{ type: 'text', text: shown }], structuredContent: { ...content } };
}
