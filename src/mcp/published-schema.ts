/** Schemas as MCP clients get them: JSON Schema, without what only this server or OpenAPI understands. */
import type { Schema } from '../schema/schema.ts';

/** @param isClosed unknown members are errors */
export function publishedSchema(schema: Schema, { isClosed = false } = {}): Record<string, unknown> {
  const { title: _title, examples: _examples, rule: _rule, refusesNull: _refusesNull, ...rest } = schema;
  const { format, properties, items, ...kept } = rest;
  return {
    ...kept,
    // Validators of clients know no other format of ours.
    ...(format === 'date-time' ? { format } : {}),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, one]) => [name, publishedSchema(one, { isClosed })]),
          ),
        }),
    ...(properties !== undefined && isClosed ? { additionalProperties: false } : {}),
    ...(items === undefined ? {} : { items: publishedSchema(items, { isClosed }) }),
  };
}
