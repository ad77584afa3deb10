// Generated from lib/contract by `npm run generate`. Change the rows, not this file.

import { mcp } from '../../lib/contract/open/mcp.ts';
import { serveMcp } from '../../lib/mcp/serve-mcp.ts';
import { handler as assignSkill } from '../agents/assign-skill.ts';
import { handler as createAgent } from '../agents/create-agent.ts';
import { handler as deleteAgent } from '../agents/delete-agent.ts';
import { handler as getAgent } from '../agents/get-agent.ts';
import { handler as getMetrics } from '../agents/get-metrics.ts';
import { handler as listAgents } from '../agents/list-agents.ts';
import { handler as listImprovements } from '../agents/list-improvements.ts';
import { handler as listPrompts } from '../agents/list-prompts.ts';
import { handler as listSkills } from '../agents/list-skills.ts';
import { handler as restorePrompt } from '../agents/restore-prompt.ts';
import { handler as updateAgent } from '../agents/update-agent.ts';
import { handler as updateSoul } from '../agents/update-soul.ts';
import { handler as cancelExecution } from '../executions/cancel-execution.ts';
import { handler as delegateTask } from '../executions/delegate-task.ts';
import { handler as executeAgent } from '../executions/execute-agent.ts';
import { handler as getExecution } from '../executions/get-execution.ts';
import { handler as listExecutions } from '../executions/list-executions.ts';
import { handler as listSteps } from '../executions/list-steps.ts';
import { handler as rerunExecution } from '../executions/rerun-execution.ts';
import { handler as createTask } from '../kanban-tasks/create-task.ts';
import { handler as deleteTask } from '../kanban-tasks/delete-task.ts';
import { handler as getTask } from '../kanban-tasks/get-task.ts';
import { handler as listTasks } from '../kanban-tasks/list-tasks.ts';
import { handler as updateTask } from '../kanban-tasks/update-task.ts';
import { handler as getMe } from '../me/get-me.ts';
import { handler as getRecovery } from '../webhooks/get-recovery.ts';
import { handler as getWebhook } from '../webhooks/get-webhook.ts';
import { handler as listDeliveries } from '../webhooks/list-deliveries.ts';
import { handler as listEvents } from '../webhooks/list-events.ts';
import { handler as listWebhooks } from '../webhooks/list-webhooks.ts';

/** The handlers of the operations that models can call as tools. */
const handlers = {
  listTasks,
  countTasks: listTasks,
  createTask,
  getTask,
  updateTask,
  deleteTask,
  listAgents,
  createAgent,
  getAgent,
  updateAgent,
  deleteAgent,
  listSkills,
  assignSkill,
  unassignSkill: assignSkill,
  updateSoul,
  executeAgent,
  delegateTask,
  listExecutions,
  listAgentExecutions: listExecutions,
  getExecution,
  cancelExecution,
  rerunExecution,
  getMetrics,
  getExecutionMetrics: getMetrics,
  listImprovements,
  listSkillCatalogue: listSkills,
  listWebhooks,
  getWebhook,
  listDeliveries,
  getDelivery: listDeliveries,
  listEvents,
  getEvent: listEvents,
  getMe,
  listComments: listTasks,
  commentOnTask: updateTask,
  getTaskHistory: listTasks,
  listPrompts,
  getPrompt: listPrompts,
  restorePrompt,
  getRecovery,
  listRecoveries: getRecovery,
  listSteps,
  listReadyTasks: listTasks,
  claimTask: updateTask,
  claimNextTask: updateTask,
  renewClaim: updateTask,
  releaseTask: updateTask,
  reviewTask: updateTask,
  searchTasks: listTasks,
  listWebhookEvents: listDeliveries,
};

export const handler = serveMcp(mcp, handlers);
