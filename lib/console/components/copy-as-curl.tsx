import type { Operation, RequestTo } from '../../client/client.ts';
import { operations } from '../../client/operations.ts';
import type { Action } from './action-menu.tsx';
import { useCopy } from './hooks/use-copy.ts';

type AnyRequest = {
  params?: Record<string, string>;
  query?: Record<string, string | number | readonly string[] | undefined>;
  body?: unknown;
};

/** Returns the command that sends a request. The token is in a variable of the shell, not in the command. */
function curlOf<Name extends Operation>(operation: Name, request: RequestTo<Name>, origin: string): string {
  const { method, path } = operations[operation];
  const { params = {}, query = {}, body } = request as AnyRequest;
  const url = new URL(
    path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? '')),
    origin,
  );
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  return [
    `curl -s ${method === 'GET' ? '' : `-X ${method} `}${quoted(url.href)}`,
    '-H "Authorization: Bearer $CREWBOARD_TOKEN"',
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ');
}

/** Returns the action that copies a request as a command. */
export function useCopyAsCurl<Name extends Operation>(operation: Name, request: RequestTo<Name>): Action {
  const copy = useCopy();
  return {
    label: 'Copy as curl',
    run: () =>
      void copy(
        curlOf(operation, request, location.origin),
        'The command is copied. Set CREWBOARD_TOKEN to your access token.',
      ),
  };
}

/** A button that copies the request of a screen as a command. */
export function CopyAsCurl<Name extends Operation>(props: { operation: Name; request: RequestTo<Name> }) {
  const { label, run } = useCopyAsCurl(props.operation, props.request);
  return (
    <button type="button" className="quiet" onClick={run}>
      {label}
    </button>
  );
}
