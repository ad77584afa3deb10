type Json = { [key: string]: unknown };

/** The greatest length of a text with a pattern. Schemathesis takes seconds to generate a longer one. */
const longestWithPattern = 10_000;

/**
 * Returns the published document for the fuzzer. Every response is closed: callers must expect further fields later, but
 * today a field that is not documented is a finding. Long texts have no pattern; `hooks.py` keeps to it instead.
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

/** Closes every schema in a part that lists its properties and does not describe others. */
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
