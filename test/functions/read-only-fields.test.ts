import { expect, it } from 'vitest';
import type { Operation } from '../../lib/contract/routes.ts';
import { createTaskCallers } from './kanban-tasks/task-caller.ts';

const caller = await (await createTaskCallers()).newTaskCaller();
const ulid = '01K00000000000000000000000';
const ofStart = ['id', 'executionId', 'agentName', 'status', 'startedAt', 'model', 'qualityGates'];

it.each<[Operation, string[]]>([
  ['createTask', ['id', 'blockedBy']],
  ['updateTask', ['id', 'createdAt', 'updatedAt']],
  ['createAgent', ['id', 'isSystem', 'createdAt', 'updatedAt']],
  ['updateAgent', ['id', 'name', 'isSystem', 'createdAt', 'updatedAt']],
  ['updateSoul', ['name', 'systemPrompt']],
  ['executeAgent', [...ofStart, 'output', 'tokensUsed', 'durationMs', 'error']],
  ['delegateTask', ['delegationId', 'fromAgent', 'status']],
  ['registerWebhook', ['active', 'lastDeliveryAt']],
  ['updateWebhook', ['id', 'secret', 'createdAt', 'lastDeliveryAt', 'lastSuccessAt', 'lastFailureAt']],
  ['updateWebhook', ['failingSince', 'disabledReason', 'disabledAt']],
  ['testWebhook', ['httpStatus']],
  ['rotateWebhookSecret', ['id', 'url', 'events', 'active', 'createdAt', 'lastDeliveryAt', 'previousSecretEndsAt']],
])(
  '%s rejects %j as read_only, since only the service sets them, and other fields as unknown',
  async (operation, fields) => {
    const hidden = ['version', 'dependents', 'owner', 'claims', 'ancestors', 'constructor'];
    const body = Object.fromEntries([...fields, ...hidden].map((name) => [name, 'x']));
    const params = { name: 'writer', id: /webhook/i.test(operation) ? `wh_${ulid}` : `tk_${ulid}` };
    const send = () => caller[operation]({ params, body });
    const { details } = await caller.refuses(send, 400, 'validation_failed');
    expect(details).toEqual(
      expect.arrayContaining([
        ...fields.map((path) => expect.objectContaining({ path, code: 'read_only' })),
        ...hidden.map((path) => expect.objectContaining({ path, code: 'unknown_field' })),
      ]),
    );
  },
);
