/** Responses of the OpenAPI document that several operations have: each is described once, in the components. */
import type { ResponseObject } from './document.ts';

/** Responses of one operation, by status. */
type Responses = Readonly<Record<string, ResponseObject>>;

/** Replaces responses that occur more than once by references, and returns them by name. */
export function shareResponses(
  operations: readonly { responses: Readonly<Record<string, unknown>> }[],
): Record<string, ResponseObject> {
  const all = operations.flatMap(({ responses }) => Object.values(responses as Responses));
  const byText = Map.groupBy(all, (response) => JSON.stringify(response));
  const shared = new Map<string, string>();
  const components: Record<string, ResponseObject> = {};
  for (const [text, [response, ...others]] of byText) {
    if (response !== undefined && others.length > 0) {
      const name = [clauseOf(response), clauseOf(response) + schemaOf(response)].find(
        (candidate) => components[candidate] === undefined,
      );
      if (name === undefined) {
        throw new Error(`Two responses would have one name: ${response.description}`);
      }
      shared.set(text, name);
      components[name] = response;
    }
  }
  for (const operation of operations) {
    operation.responses = Object.fromEntries(
      Object.entries(operation.responses).map(([status, response]) => {
        const name = shared.get(JSON.stringify(response));
        return [status, name === undefined ? response : { $ref: `#/components/responses/${name}` }];
      }),
    );
  }
  return Object.fromEntries(Object.entries(components).sort());
}

/** `BodyIsOver1MiB` for "The body is over 1 MiB": the first clause, without an article. */
function clauseOf({ description = '' }: ResponseObject): string {
  const [clause = ''] = description.replace(/^(An?|The) /, '').split(/[.:] /);
  const words = clause.split(/\W/).filter((word) => word !== '');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** The component of its body; empty without one. */
function schemaOf({ content = {} }: ResponseObject): string {
  const [media] = Object.values(content);
  return media?.schema?.$ref?.split('/').at(-1) ?? '';
}
