import { expect } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import type { Delegation, Execution, ExecutionListItem, ExecutionStarted } from '../../../lib/contract/executions.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { runExecution } from '../../../lib/executions/run-execution.ts';
import type { Model } from '../../../lib/model/converse.ts';
import { dataOf, paginationOf, type Request } from '../../api.ts';
import type { Answer, Service } from '../../service.ts';
import { boardOf } from '../kanban-tasks/board.ts';
import { openRegistries, type Registry } from './registry.ts';

/** An organization's agents, its board and the endpoints of executions, as one caller sends to them. */
export type Crew = Awaited<ReturnType<Awaited<ReturnType<typeof openCrews>>['newCrew']>>;

/** A body that starts an execution: what is required and no more. */
export const newExecution = { input: 'Write a haiku.' };

/** A body that has something handed on to `reader`: what is required and no more. */
export const newDelegation = { toAgent: 'reader', instruction: 'Read it aloud.' };

/** Hands in `text`, and lets both gates pass. */
export const passing =
  (text = 'Done.'): Model =>
  async ({ user }) => ({ kind: 'text', text: user.includes(text) ? 'VERDICT: PASS' : text, tokens: 10 });

/** What a start answered. */
export const startedOf = (answer: Answer): ExecutionStarted => dataOf<ExecutionStarted>(answer);

/** What a delegation answered. */
export const delegationOf = (answer: Answer): Delegation => dataOf<Delegation>(answer);

/** Ids in the order of a list; those of one millisecond too, whose order is chance. */
export const newestFirst = (...ids: string[]): string[] => ids.sort().reverse();

/** The executions of a list's answer, by their ids, and its total. */
export const listed = (answer: Answer): [string[], number] => [
  dataOf<ExecutionListItem[]>(answer).map(({ id }) => id),
  paginationOf(answer).total,
];

/**
 * Points the handlers of this process at a table of the test file's own. A test file calls it once, before its first
 * request; each `newCrew` is an organization of its own, with an active agent `writer`.
 *
 * @param cap how many executions of an organization may run at once; the standard number if it is left out
 */
export async function openCrews(cap?: number) {
  if (cap !== undefined) process.env[environment.runningCap] = String(cap);
  const { service, newRegistry } = await openRegistries();
  return {
    service,
    newCrew: async (scopes?: readonly Scope[]) => {
      const registry = await newRegistry(scopes);
      if (!scopes) await registry.put();
      return crewOf(service, registry);
    },
  };
}

function crewOf(service: Service, registry: Registry) {
  const { organization, token } = registry;
  const crew = {
    organization,
    token,
    registry,
    board: boardOf(service, organization, token),
    refuses: registry.refuses,
    dump: registry.dump,
    execute: (body: unknown = newExecution, { name = 'writer', ...more }: Request & { name?: string } = {}) =>
      registry.executeAgent({ params: { name }, body, ...more }),
    delegate: (body: unknown = newDelegation, { name = 'writer', ...more }: Request & { name?: string } = {}) =>
      registry.delegateTask({ params: { name }, body, ...more }),
    list: (query = '', more: Request = {}) => registry.listExecutions({ query, ...more }),
    listOf: (name: string, query = '', more: Request = {}) =>
      registry.listAgentExecutions({ params: { name }, query, ...more }),
    get: (name: string, id: string, more: Request = {}) => registry.getExecution({ params: { name, id }, ...more }),

    /** Starts an execution and returns its id. */
    start: async (fields: Record<string, unknown> = {}, name = 'writer'): Promise<string> => {
      const answer = await crew.execute({ ...newExecution, ...fields }, { name });
      expect(answer.status).toBe(200);
      return startedOf(answer).executionId;
    },

    /** Has an agent hand something on to another, and returns the execution that this has started. */
    handOn: async (from: string, toAgent: string, fields: Record<string, unknown> = {}): Promise<Execution> => {
      const answer = await crew.delegate({ ...newDelegation, toAgent, ...fields }, { name: from });
      expect(answer.status).toBe(200);
      const { delegationId } = delegationOf(answer);
      const [ids] = listed(await crew.listOf(toAgent));
      const executions = await Promise.all(ids.map((id) => crew.execution(id, toAgent)));
      return executions.find((one) => one.delegationId === delegationId) as Execution;
    },

    /** Has a worker carry an execution out. */
    carryOut: (executionId: string, model: Model = passing()) =>
      runExecution(processContext(), { organization, executionId }, { model, catalogue: [] }),

    /** An execution as it is read. */
    execution: async (id: string, name = 'writer'): Promise<Execution> => dataOf<Execution>(await crew.get(name, id)),
  };
  return crew;
}
