import { join } from 'node:path';
import { type Expression, parseSync, Visitor } from 'oxc-parser';

/** How an import with a computed path is written in the table of imports. */
const computed = '(computed)';

/**
 * Returns what a file imports or exports again, types included: a path from the top of the project, or the name of a
 * package or of a module of Node.js. A path of which only the beginning is constant is the folder that it names.
 *
 * It uses the parser of Knip, which is installed anyway: TypeScript 7 has no interface for programs.
 *
 * @param file the path of the file from the top of the project
 * @param text TypeScript
 * @throws Error if the text is not TypeScript
 */
export function importsOf(file: string, text: string): string[] {
  const { program, errors } = parseSync(file, text);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  const sources: string[] = [];
  new Visitor({
    ImportDeclaration: ({ source }) => sources.push(source.value),
    ExportAllDeclaration: ({ source }) => sources.push(source.value),
    ExportNamedDeclaration: ({ source }) => source !== null && sources.push(source.value),
    ImportExpression: ({ source }) => sources.push(constantPart(source)),
    TSImportType: ({ source }) => sources.push(source.value),
    TSExternalModuleReference: ({ expression }) => sources.push(expression.value),
  }).visit(program);
  return sources.map((source) => (source.startsWith('.') ? join(file, '..', source) : packageOf(source)));
}

function constantPart(source: Expression): string {
  if (source.type === 'Literal' && typeof source.value === 'string') return source.value;
  const start = source.type === 'TemplateLiteral' ? source.quasis[0]?.value.cooked : undefined;
  return start?.startsWith('.') ? start.slice(0, start.lastIndexOf('/')) : computed;
}

/** The package of `@scope/name/file` is `@scope/name`; a module of Node.js keeps its whole name. */
function packageOf(source: string): string {
  if (source.startsWith('node:') || source === computed) return source;
  return source
    .split('/')
    .slice(0, source.startsWith('@') ? 2 : 1)
    .join('/');
}
