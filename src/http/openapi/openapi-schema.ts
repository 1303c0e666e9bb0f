/** Schemas of routes as the OpenAPI document has them. */
import type { Schema } from '../../schema/schema.ts';

/** An example of a value. It is next to the schema, where all tools find it. */
export function findExample({ examples, items }: Schema): unknown {
  return examples?.[0] ?? (items === undefined ? undefined : [findExample(items)]);
}

/** A schema as the document has it. Schemas with a title become components. */
export function reference(schema: Schema, components: Map<string, unknown>): unknown {
  if (schema.title !== undefined && components.has(schema.title)) {
    return referenceTo(schema);
  }
  const { properties, items, anyOf, oneOf, discriminator, ...rest } = withoutChecks(schema);
  const full = {
    ...withDefaultInWords(rest),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [name, reference(property, components)]),
          ),
        }),
    ...(items === undefined ? {} : { items: reference(items, components) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map((alternative) => reference(alternative, components)) }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map((alternative) => reference(alternative, components)) }),
    ...(discriminator === undefined ? {} : { discriminator: mappingOf(discriminator, oneOf ?? []) }),
  };
  if (schema.title === undefined) {
    return full;
  }
  components.set(schema.title, full);
  return referenceTo(schema);
}

const referenceTo = ({ title }: Schema) => ({ $ref: `#/components/schemas/${title}` });

/** The mapping tells tools that the values of the member are no names of components. */
function mappingOf(
  { propertyName }: NonNullable<Schema['discriminator']>,
  oneOf: readonly Schema[],
): Record<string, unknown> {
  const mapping = oneOf.map((alternative) => [
    alternative.properties?.[propertyName]?.const,
    referenceTo(alternative).$ref,
  ]);
  return { propertyName, mapping: Object.fromEntries(mapping) };
}

/** These checks have no form in JSON Schema; descriptions say what they require. */
const withoutChecks = ({
  isBatch: _,
  rule: _rule,
  decimals: _decimals,
  refusesNull: _refusesNull,
  ...rest
}: Schema) => rest;

/**
 * Generators of clients make members with a `default` required, because they are always in a response: requests would
 * have to send them.
 */
export function withDefaultInWords({ default: value, ...schema }: Schema): Schema {
  if (value === undefined) {
    return schema;
  }
  const preset = `Default: \`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
  const { description } = schema;
  return { ...schema, description: description === undefined ? preset : `${description}. ${preset}` };
}

/** The schema of a parameter. */
export function documentedSchema(full: Schema): Schema {
  const schema = withoutChecks(full);
  return schema.items === undefined ? schema : { ...schema, items: documentedSchema(schema.items) };
}
