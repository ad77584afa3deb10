import { type Endpoint, pathParameters } from './endpoint.ts';
import { endpoints } from './endpoints.ts';

/** An operation id. */
export type Operation = keyof typeof endpoints;

/** The rows with their operation ids, as rows of one type. */
export const routes: readonly (readonly [Operation, Endpoint])[] = Object.entries(endpoints) as [Operation, Endpoint][];

/** The folder and tag of a row: its path family as the specification names it, or `open`. */
export function familyOf(row: Pick<Endpoint, 'path'>): string {
  return /^\/api\/([^/]+)/.exec(row.path)?.[1] ?? 'open';
}

/** The file name that a function's camel-case name stands for: `createTask` is `create-task`. */
export function fileNameOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** A row that a path is, and the path's parameters. */
export type Match = { operation: Operation; row: Endpoint; params: Record<string, string> };

/** The rows with the segments of their paths: this is asked for each request. */
const templates = routes.map(([operation, row]) => ({ operation, row, template: row.path.split('/') }));

/**
 * The rows whose path a decoded path is, one a method; empty for an unknown path. For each method a static segment
 * wins over a parameter, as in API Gateway: `POST /api/webhooks/register` is the registration, while
 * `GET /api/webhooks/register` reads a webhook of that (impossible) id.
 */
export function matchPath(path: string): Match[] {
  const segments = path.split('/');
  const matches = templates.flatMap(({ operation, row, template }) => {
    if (template.length !== segments.length) return [];
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
