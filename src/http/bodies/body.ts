/** Request bodies: which media types a route accepts, and how a body is parsed and validated. */
import type { IncomingHttpHeaders } from 'node:http';
import { AppError, addError, type FieldError, validationError } from '../../errors.ts';
import { chain, type MaybePromise } from '../../maybe-promise.ts';
import { type IgnoredMembers, validate } from '../../schema/validate.ts';
import { bracketRemedy, throwIfInvalid, unchangeableErrors } from '../pipeline/parameters.ts';
import type { Route } from '../route.ts';
import { parseJson } from './json-body.ts';

const jsonTypes = ['application/json', 'application/*+json'];
const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/** Checked before the body is read. @throws AppError unsupportedMediaType */
export function requireMediaType(route: Route, headers: IncomingHttpHeaders): void {
  const { 'content-type': contentType } = headers;
  const { bodyTypes } = route;
  if (bodyTypes !== undefined) {
    requireOneOf(bodyTypes, contentType);
    refuseContentEncoding(headers);
    return;
  }
  const isJson = contentType === undefined || /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType);
  if (!(isJson || (route.takesForms && isForm(contentType))) || !isUtf8(contentType)) {
    const accepts = route.takesForms ? [...jsonTypes, ...formTypes] : jsonTypes;
    throw new AppError('unsupportedMediaType', `Send the body as one of ${accepts.join(', ')}, in UTF-8.`, {
      details: { accepts },
    });
  }
  refuseContentEncoding(headers);
}

/**
 * Compressed bodies are refused, because a small one could become very large.
 * @throws AppError unsupportedMediaType when the body has an encoding (RFC 9110, section 8.4)
 */
export function refuseContentEncoding(headers: IncomingHttpHeaders): void {
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new AppError('unsupportedMediaType', 'Send the body without Content-Encoding.', {
      details: { acceptsEncodings: ['identity'] },
    });
  }
}

/**
 * Whether a body is declared as UTF-8, or not declared: the same bytes in another charset are another text. A repeated
 * parameter is refused, because programs differ in which one they use.
 */
export function isUtf8(contentType = ''): boolean {
  const [first, second] = contentType.matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi);
  return second === undefined && /^(utf-?8|us-ascii)$/i.test(first?.[1] ?? 'utf-8');
}

/** A patch names the types in Accept-Patch (RFC 5789). */
function requireOneOf(types: readonly string[], contentType: string | undefined): void {
  const given = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if ((given !== undefined && !types.includes(given)) || !isUtf8(contentType)) {
    throw new AppError('unsupportedMediaType', `Send the patch as one of ${types.join(', ')}, in UTF-8.`, {
      details: { acceptsPatch: types },
    });
  }
}

function isForm(contentType: string): boolean {
  return /^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i.test(contentType);
}

/** A body as it was received, or as a value that is parsed already. */
export type RequestBody =
  | { readonly bytes: Uint8Array | undefined; readonly mediaType: string | undefined }
  | { readonly value: unknown };

export interface BodyInput {
  readonly params: Readonly<Record<string, string>>;
  readonly body: RequestBody;
  /** Called if members of the body are ignored, also before an error. */
  readonly noteIgnored: (ignored: IgnoredMembers) => void;
}

interface Reading {
  readonly route: Route;
  readonly input: BodyInput;
  readonly isStrict: boolean;
}

/** The body, validated with the schema of the route. @throws AppError badRequest, validation */
export function readBody(reading: Reading): MaybePromise<unknown> {
  const { route, input } = reading;
  const { body } = input;
  if ('value' in body) {
    return validBody(body.value, reading);
  }
  const { bytes = noBytes, mediaType = 'application/json' } = body;
  if (route.bodyIsOptional && bytes.length === 0) {
    return {};
  }
  return isForm(mediaType)
    ? chain(parseForm(bytes, mediaType), (form) => {
        refuseBrackets(route, form);
        return validBody(form, reading);
      })
    : validBody(parseJson(bytes, route.bodyValuesMax), reading);
}

/** @throws AppError validation */
function refuseBrackets({ body }: Route, form: Readonly<Record<string, unknown>>): void {
  const errors: FieldError[] = [];
  for (const name of Object.keys(form)) {
    const remedy = bracketRemedy(name, body?.properties ?? {});
    if (remedy !== null) {
      addError(errors, name, remedy);
    }
  }
  throwIfInvalid(errors, 'validation');
}

function validBody(given: unknown, { route, input, isStrict }: Reading): unknown {
  const { value, errors, ignored } = validate(route.body ?? {}, given, isStrict);
  if (ignored.count > 0) {
    input.noteIgnored(ignored);
  }
  const isGiven = (name: string) =>
    Object.hasOwn(Object(given), name) && (given as Record<string, unknown>)[name] !== null;
  throwIfInvalid(unchangeableErrors(route, input.params, errors, isGiven), 'validation');
  return value;
}

const noBytes = new Uint8Array(0);

/** The bytes of a body; empty if there is none. */
export function rawBody(body: RequestBody): Uint8Array {
  return 'value' in body ? Buffer.from(JSON.stringify(body.value)) : (body.bytes ?? noBytes);
}

/** The largest number of fields in a form; no schema has as many. */
export const formFieldsMax = 100;

function tooManyFields(): AppError {
  return validationError([{ field: '', message: `the form must have at most ${formFieldsMax} fields` }]);
}

/** Values by name. A field may be repeated with the same value. @throws AppError validation */
function valuesOf(fields: readonly (readonly [name: string, value: unknown])[]): Record<string, unknown> {
  const errors: FieldError[] = [];
  if (fields.length > formFieldsMax) {
    throw tooManyFields();
  }
  const values = new Map<string, unknown>();
  const conflicting = new Set<string>();
  for (const [name, value] of fields) {
    if (values.has(name) && values.get(name) !== value) {
      conflicting.add(name);
    }
    values.set(name, value);
  }
  for (const name of conflicting) {
    addError(errors, name, 'is given twice, with different values');
  }
  throwIfInvalid(errors, 'validation');
  return Object.fromEntries(values);
}

/** Counts the separators of fields up to the bound, without parsing: parsing takes more than linear time. */
function countSeparators(bytes: Uint8Array, contentType: string): number {
  const boundary = /boundary="?([^";\s]+)/i.exec(contentType)?.[1];
  const separator = Buffer.from(boundary === undefined ? '&' : `--${boundary}`);
  const form = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  let at = form.indexOf(separator);
  while (at !== -1 && count <= formFieldsMax + 1) {
    count += 1;
    at = form.indexOf(separator, at + separator.length);
  }
  return count;
}

async function parseForm(bytes: Uint8Array, contentType: string): Promise<Record<string, unknown>> {
  // A multipart form has a separator before its first part and one after its last.
  if (countSeparators(bytes, contentType) > formFieldsMax + 1) {
    throw tooManyFields();
  }
  try {
    const form = await new Response(Buffer.from(bytes), {
      headers: { 'Content-Type': contentType },
    }).formData();
    return valuesOf([...form]);
  } catch (error) {
    if (error instanceof AppError) {
      throw error;
    }
    const message = 'the body is not the form that its Content-Type says';
    throw new AppError('validation', message, { cause: error, errors: [{ field: '', message }] });
  }
}
