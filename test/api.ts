import { loadHandler } from '../infra/local/functions.ts';
import { endpoints } from '../lib/contract/endpoints.ts';
import type { ErrorDetail } from '../lib/contract/errors.ts';
import { fileNameOf, functionFolderOf, functionNameOf, type Operation, routes } from '../lib/contract/routes.ts';
import type { Task } from '../lib/contract/tasks/tasks.ts';
import { etagOf } from '../lib/http/preconditions.ts';
import { type Answer, call, type Sent } from './service.ts';

/** A request to an operation. Its method and path come from the operation's row. */
export type Request = Omit<Sent, 'method' | 'path'>;

/** A function for each operation of the contract. */
export type Api = Readonly<Record<Operation, (request?: Request) => Promise<Answer>>>;

/**
 * Creates a caller of the API: a function for each operation of the contract, which calls the operation's handler in
 * this process, as the local gateway does. `createApiOverHttp` creates the same for a service at a URL.
 *
 * @param token sent with each request that names no token itself
 */
export function createApi(token: string): Api {
  return createOperations(token, async (operation, sent) => {
    const row = endpoints[operation];
    const handler = (await loadHandler(
      functionFolderOf(row),
      fileNameOf(functionNameOf(operation, row)),
    )) as Parameters<typeof call>[0];
    return call(handler, sent);
  });
}

/** A request with the method and the path of its operation's row, its parameters filled in. */
export type OperationRequest = Sent & { path: `/${string}` };

/** Creates a function for each operation of the contract, whose requests `send` sends. */
export function createOperations(
  token: string,
  send: (operation: Operation, sent: OperationRequest) => Promise<Answer>,
): Api {
  const functions = routes.map(([operation, { method, path }]) => [
    operation,
    (request: Request = {}) => {
      const filledIn = path.replaceAll(/:(\w+)/g, (_, name: string) =>
        encodeURIComponent(request.params?.[name] ?? ''),
      );
      return send(operation, { method, path: filledIn as `/${string}`, route: path, token, ...request });
    },
  ]);
  return Object.fromEntries(functions) as Api;
}

/** The `error` of an error response. */
export type ErrorBody = { code: string; message: string; details?: ErrorDetail[]; requestId: string };

/** The `data` of an answer. */
export function dataOf<Data = Task>(answer: Answer): Data {
  return (answer.body as unknown as { data: Data }).data;
}

/**
 * Returns the `data` of a successful response.
 *
 * @throws Error with the response for any status but 2xx
 */
export function successOf<Data = Task>(answer: Answer): Data {
  const { status, body } = answer;
  if (status < 200 || status > 299) throw new Error(`The response is ${status}: ${JSON.stringify(body)}`);
  return dataOf<Data>(answer);
}

/** The `error` of an answer. */
export function errorOf(answer: Answer): ErrorBody {
  return (answer.body as unknown as { error: ErrorBody }).error;
}

/** Returns the status and the error code of a response. */
export function statusAndCodeOf(answer: Answer): [status: number, code: string | undefined] {
  return [answer.status, errorOf(answer)?.code];
}

/** Returns the ETag of a version of the resource in a response. */
export function tagOf(answer: Answer, version: number): string {
  return etagOf({ id: dataOf<{ id: string }>(answer).id, version });
}

/** Returns the version of the resource in a response, which its ETag names; `undefined` for another ETag, or none. */
export function versionOf(answer: Answer): number | undefined {
  const versions = Array.from({ length: 100 }, (_, at) => at + 1);
  return versions.find((version) => tagOf(answer, version) === answer.headers.ETag);
}

/** The `pagination` of an answer. */
export function paginationOf(answer: Answer): { limit: number; offset: number; total: number } {
  return (answer.body as unknown as { pagination: { limit: number; offset: number; total: number } }).pagination;
}
