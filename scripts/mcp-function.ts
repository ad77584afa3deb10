import { isOfferedAsTool } from '../lib/contract/open/mcp.ts';
import { fileNameOf, functionFolderOf, functionNameOf, routes } from '../lib/contract/routes.ts';
import { ascending } from '../lib/contract/texts/order.ts';

/** Returns the source of `functions/mcp/mcp.ts`: the function with the handlers of all operations that are offered as tools. */
export function mcpFunctionSource(): string {
  const offered = routes.filter(([, row]) => isOfferedAsTool(row));
  const functions = new Map(offered.map(([operation, row]) => [functionNameOf(operation, row), functionFolderOf(row)]));
  const imports = [...functions].map(
    ([name, folder]) => `import { handler as ${name} } from '../${folder}/${fileNameOf(name)}.ts';`,
  );
  // Without the extension, as Biome sorts: `get-execution` before `get-execution-metrics`.
  const path = (line: string) => line.split("'")[1]?.replace('.ts', '') as string;
  imports.sort((a, b) => ascending(path(a), path(b)));
  return `// Generated from lib/contract by \`npm run generate\`. Change the rows, not this file.

import { mcp } from '../../lib/contract/open/mcp.ts';
import { serveMcp } from '../../lib/mcp/serve-mcp.ts';
${imports.join('\n')}

/** The handlers of the operations that models can call as tools. */
const handlers = {
${offered.map(entryOf).join('\n')}
};

export const handler = serveMcp(mcp, handlers);
`;
}

/** Returns the line of an operation in the list of handlers. */
function entryOf([operation, row]: (typeof routes)[number]): string {
  const name = functionNameOf(operation, row);
  return name === operation ? `  ${operation},` : `  ${operation}: ${name},`;
}
