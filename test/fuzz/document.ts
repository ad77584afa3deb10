/** A part of an OpenAPI document. */
type Json = { [key: string]: unknown };

/** schemathesis takes seconds to make a text of a pattern that may be longer, and makes none in its coverage phase. */
const longestWithPattern = 10_000;

/**
 * The published document as it is fuzzed by: every answer is closed, for callers are told to expect further fields one
 * day, but today the service answers exactly what is documented, and anything beyond it is a finding. Long texts have no
 * pattern; `hooks.py` sees to it instead.
 */
export function fuzzedDocument(document: Json): Json {
  const copy = structuredClone(document);
  const { components = {}, paths = {} } = copy as { components?: Json; paths?: Record<string, Record<string, Json>> };
  for (const methods of Object.values(paths))
    for (const operation of Object.values(methods)) close(operation.responses);
  close((components as Json).schemas);
  close((components as Json).responses);
  dropPatterns(copy);
  return copy;
}

/** Closes every schema below that lists its properties and does not say what others may be. */
function close(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  const schema = part as Json;
  for (const below of Object.values(schema)) close(below);
  if (schema.type === 'object' && schema.properties) schema.additionalProperties ??= false;
}

function dropPatterns(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  for (const below of Object.values(part)) dropPatterns(below);
  const schema = part as Json;
  if (Number(schema.maxLength) > longestWithPattern) delete schema.pattern;
}
