import type { endpoints, Operation } from '../../contract/endpoints.ts';
import { agents } from './agents.ts';
import { executions } from './executions.ts';
import { open } from './open.ts';
import type { ReferenceOf } from './row.ts';
import { tasks } from './tasks.ts';
import { webhooks } from './webhooks.ts';

/** The words and examples of every row by its operation id. A row without any does not compile. */
export const reference: Readonly<Record<Operation, { description: string; body?: unknown; data?: unknown }>> = {
  ...tasks,
  ...agents,
  ...executions,
  ...webhooks,
  ...open,
} satisfies ReferenceOf<typeof endpoints>;
