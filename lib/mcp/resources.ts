import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import { callerOf } from '../http/api-event.ts';
import type { OperationId } from '../tools/tool-definitions.ts';
import { callOperation, type McpRequest, type OperationResponse } from './call-operation.ts';

/** How many resources of a kind the list has: the newest. Models find others with the tools. */
const listedOfKind = 50;

const mimeType = 'application/json';

/** A kind of resource: the start of its URIs, and the operations that list and read it. */
type Kind = {
  prefix: string;
  scope: 'tasks:read' | 'agents:read';
  list: OperationId;
  read: OperationId;
  /** The parameter of the path that identifies a resource. */
  parameter: 'id' | 'name';
  template: Omit<ResourceTemplateType, 'mimeType'>;
  listed: (item: Record<string, string>) => Pick<Resource, 'name' | 'title' | 'description'> & { key: string };
};

const kinds: readonly Kind[] = [
  {
    prefix: 'crewboard://tasks/',
    scope: 'tasks:read',
    list: 'listTasks',
    read: 'getTask',
    parameter: 'id',
    template: {
      uriTemplate: 'crewboard://tasks/{id}',
      name: 'task',
      title: 'Task',
      description: 'A task with its description, its status and its dependencies.',
    },
    listed: ({ id = '', title, status, priority }) => ({
      key: id,
      name: id,
      ...(title !== undefined && { title }),
      description: `Task, ${status}, priority ${priority}`,
    }),
  },
  {
    prefix: 'crewboard://agents/',
    scope: 'agents:read',
    list: 'listAgents',
    read: 'getAgent',
    parameter: 'name',
    template: {
      uriTemplate: 'crewboard://agents/{name}',
      name: 'agent',
      title: 'Agent',
      description: 'An agent with its prompt, its soul and its capabilities.',
    },
    listed: ({ name = '', displayName, description, status }) => ({
      key: name,
      name,
      ...(displayName !== undefined && { title: displayName }),
      description: description ?? `Agent, ${status}`,
    }),
  },
];

/** Returns the kinds of resources that the scopes of the caller's access token allow. */
function allowedKinds({ event }: McpRequest): Kind[] {
  const { scopes } = callerOf(event);
  return kinds.filter(({ scope }) => scopes.includes(scope));
}

/** Returns the templates of the resources that the caller may read. */
export function listResourceTemplates(request: McpRequest): ResourceTemplateType[] {
  return allowedKinds(request).map(({ template }) => ({ ...template, mimeType }));
}

/**
 * Returns the newest tasks and agents that the caller may read.
 *
 * @throws what `failure` returns for an error of the API
 */
export async function listResources(
  request: McpRequest,
  failure: (response: OperationResponse) => Error,
): Promise<Resource[]> {
  const lists = allowedKinds(request).map(async ({ list, prefix, listed }) => {
    const response = await callOperation(request, list, { limit: listedOfKind });
    if (response.status >= 400) throw failure(response);
    return (response.body.data as Record<string, string>[]).map((item) => {
      const { key, ...shown } = listed(item);
      return { uri: `${prefix}${key}`, ...shown, mimeType };
    });
  });
  return (await Promise.all(lists)).flat();
}

/** Reads a resource by its URI; `undefined` if no kind of resource has such URIs. */
export async function readResource(
  request: McpRequest,
  uri: string,
  failure: (response: OperationResponse) => Error,
): Promise<ReadResourceResult | undefined> {
  const kind = kinds.find(({ prefix }) => uri.startsWith(prefix));
  if (!kind) return undefined;
  const response = await callOperation(request, kind.read, { [kind.parameter]: uri.slice(kind.prefix.length) });
  if (response.status >= 400) throw failure(response);
  return { contents: [{ uri, mimeType, text: JSON.stringify(response.body.data) }] };
}
