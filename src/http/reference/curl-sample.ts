/** The request of an operation for a shell, with the examples of the document. */
import type { MediaType, Operation, ParameterObject } from '../openapi/document.ts';

const serverUrl = 'http://127.0.0.1:8080';

/** A command that can be run after the variables in it are set. */
export function curlSample({ method, path, parameters = [], security = [], requestBody }: Operation): string {
  const required = parameters.filter(({ required }) => required === true);
  const url = required
    .filter((parameter) => parameter.in === 'path')
    .reduce((text, { name, ...rest }) => text.replace(`{${name}}`, toSampleText({ name, ...rest })), path);
  const query = required
    .filter((parameter) => parameter.in === 'query')
    .map((parameter) => `${parameter.name}=${encodeURIComponent(toSampleText(parameter))}`)
    .join('&');
  const headers = required
    .filter((parameter) => parameter.in === 'header')
    .map((parameter) => `-H ${quote(`${parameter.name}: ${toSampleText(parameter)}`)}`);
  return [
    method === 'GET' ? 'curl' : `curl -X ${method}`,
    ...credentialOf(security),
    ...headers,
    ...bodyOf(requestBody?.content),
    quote(`${serverUrl}${url}${query === '' ? '' : `?${query}`}`),
  ].join(' \\\n  ');
}

/** A value with which the request can be tried. */
export function toSampleText({ name, example, schema }: ParameterObject): string {
  const value = example ?? schema.examples?.[0] ?? schema.enum?.[0] ?? schema.items?.enum?.[0];
  return value === undefined ? `<${name}>` : String(value);
}

function credentialOf(security: NonNullable<Operation['security']>): string[] {
  const schemes = security.flatMap((requirement) => Object.keys(requirement));
  if (schemes.length === 0) {
    return [];
  }
  return schemes.includes('apiKey') || schemes.includes('oauth')
    ? ['-H "X-API-Key: $KEY"']
    : ['-H "Authorization: Bearer $SESSION"'];
}

function bodyOf(content: Readonly<Record<string, MediaType>> = {}): string[] {
  const [type, media] = Object.entries(content)[0] ?? [];
  if (type === undefined || media === undefined) {
    return [];
  }
  if (type === 'multipart/form-data') {
    const files = Object.entries(media.schema?.properties ?? {}).filter(
      ([, { format }]) => format === 'binary',
    );
    return files.map(([name]) => `-F ${name}=@path/to/file`);
  }
  const text = typeof media.example === 'string' ? media.example : JSON.stringify(media.example ?? {});
  return [`-H ${quote(`Content-Type: ${type}`)}`, `-d ${quote(text)}`];
}

/** A word of a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
