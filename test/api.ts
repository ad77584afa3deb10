import { loadHandler } from '../infra/local/functions.ts';
import { endpoints } from '../lib/contract/endpoints.ts';
import type { ErrorDetail } from '../lib/contract/errors.ts';
import { familyOf, fileNameOf, type Operation } from '../lib/contract/routes.ts';
import type { Task } from '../lib/contract/tasks.ts';
import { type Answer, call, type Sent } from './service.ts';

/** A request to an operation. Its method and path are those of the operation's row. */
export type Request = Omit<Sent, 'method' | 'path'>;

/** A function for each operation of the contract. */
export type Api = Readonly<Record<Operation, (request?: Request) => Promise<Answer>>>;

/**
 * Creates a caller of the API: a function for each operation of the contract, which calls the operation's handler in
 * this process, as the local gateway does.
 *
 * @param token sent with each request that names no token itself
 */
export function createApi(token: string): Api {
  const operations = Object.keys(endpoints) as Operation[];
  const callers = operations.map((operation) => [
    operation,
    (request: Request = {}) => callOperation(operation, { token, ...request }),
  ]);
  return Object.fromEntries(callers) as Api;
}

async function callOperation(operation: Operation, request: Request): Promise<Answer> {
  const row = endpoints[operation];
  const handler = (await loadHandler(familyOf(row), fileNameOf(operation))) as Parameters<typeof call>[0];
  const path = row.path.replaceAll(/:(\w+)/g, (_, name: string) => request.params?.[name] ?? '');
  return call(handler, { method: row.method, path, ...request });
}

/** The error of a refusal. */
export type ErrorBody = { code: string; message: string; details?: ErrorDetail[]; requestId: string };

/** The `data` of an answer. */
export function dataOf<Data = Task>(answer: Answer): Data {
  return (answer.body as unknown as { data: Data }).data;
}

/** The `error` of an answer. */
export function errorOf(answer: Answer): ErrorBody {
  return (answer.body as unknown as { error: ErrorBody }).error;
}

/** The `pagination` of an answer. */
export function paginationOf(answer: Answer): { limit: number; offset: number; total: number } {
  return (answer.body as unknown as { pagination: { limit: number; offset: number; total: number } }).pagination;
}
