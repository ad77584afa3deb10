import { type Endpoint, pathParameters } from './endpoint.ts';
import { endpoints } from './endpoints.ts';

/** An operation id. */
export type Operation = keyof typeof endpoints;

/** All endpoints with their operation ids, typed as `Endpoint`. */
export const routes: readonly (readonly [Operation, Endpoint])[] = Object.entries(endpoints) as [Operation, Endpoint][];

/** Returns the path family of an endpoint, which decides its tag: `kanban-tasks`, `agents`, `webhooks`, `me`, `mcp` or `open`. */
export function familyOf(row: Pick<Endpoint, 'path'>): string {
  if (row.path === '/mcp') return 'mcp';
  return /^\/api\/([^/]+)/.exec(row.path)?.[1] ?? 'open';
}

/** The paths that start, read and control executions. They belong to the family of agents. */
const ofExecutions = /^\/api\/agents\/(:name\/(execute|delegate)$|(:name\/)?executions(?!\/metrics)(\/|$))/;

/** Returns the folder in `functions` of an endpoint's function: `executions` for a path about executions, else its family. */
export function functionFolderOf(row: Pick<Endpoint, 'path'>): string {
  return ofExecutions.test(row.path) ? 'executions' : familyOf(row);
}

/** Returns the file name of a function without its extension: `create-task` for `createTask`. */
export function fileNameOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Returns the name of the function that serves an endpoint: its operation id, or the id of the endpoint whose function it shares. */
export function functionNameOf(
  operation: string,
  { servedBy = operation }: Pick<Endpoint, 'path' | 'servedBy'>,
): string {
  return servedBy;
}

/** An endpoint that matches a path, and the values of the path's parameters. */
export type Match = { operation: Operation; row: Endpoint; params: Record<string, string> };

/** The endpoints with the segments of their paths, split once and not for each request, by the number of segments. */
const templates = Map.groupBy(
  routes.map(([operation, row]) => ({ operation, row, template: row.path.split('/') })),
  ({ template }) => template.length,
);

/**
 * Returns the endpoints that match a decoded path, one for each method; an empty list for an unknown path. For each
 * method a static segment takes precedence over a parameter, as in API Gateway: `POST /api/webhooks/register` is the
 * registration, while `GET /api/webhooks/register` matches the webhook with the id `register`, whose endpoint answers 405.
 */
export function matchPath(path: string): Match[] {
  const segments = path.split('/');
  const matches = (templates.get(segments.length) ?? []).flatMap(({ operation, row, template }) => {
    const fits = template.every((part, at) => (part.startsWith(':') ? segments[at] !== '' : part === segments[at]));
    if (!fits) return [];
    const params = Object.fromEntries(
      pathParameters(row.path).map((name) => [name, segments[template.indexOf(`:${name}`)] as string]),
    );
    return [{ operation, row, params }];
  });
  const staticFirst = matches.sort((a, b) => Object.keys(a.params).length - Object.keys(b.params).length);
  return staticFirst.filter(
    (match, at) => staticFirst.findIndex((other) => other.row.method === match.row.method) === at,
  );
}
