// Generated from the files of this folder by `npm run generate`. Change them, not this file.

import * as agentMetrics from './agent-metrics.ts';
import * as agents from './agents.ts';
import * as console from './console.ts';
import type { Endpoint } from './endpoint.ts';
import * as eventLog from './event-log.ts';
import * as executionControl from './execution-control.ts';
import * as executions from './executions.ts';
import * as improvements from './improvements.ts';
import * as mcp from './mcp.ts';
import * as me from './me.ts';
import * as open from './open.ts';
import * as prompts from './prompts.ts';
import * as recoveries from './recoveries.ts';
import * as skills from './skills.ts';
import * as steps from './steps.ts';
import * as tasks from './tasks.ts';
import * as webhookEvents from './webhook-events.ts';
import * as webhooks from './webhooks.ts';

/** All endpoints by their operation ids, in the order of the OpenAPI document. */
export const endpoints = {
  listTasks: tasks.listTasks,
  countTasks: tasks.countTasks,
  createTask: tasks.createTask,
  getTask: tasks.getTask,
  updateTask: tasks.updateTask,
  deleteTask: tasks.deleteTask,
  listAgents: agents.listAgents,
  createAgent: agents.createAgent,
  getAgent: agents.getAgent,
  updateAgent: agents.updateAgent,
  deleteAgent: agents.deleteAgent,
  listSkills: agents.listSkills,
  assignSkill: agents.assignSkill,
  unassignSkill: agents.unassignSkill,
  updateSoul: agents.updateSoul,
  executeAgent: executions.executeAgent,
  delegateTask: executions.delegateTask,
  listExecutions: executions.listExecutions,
  listAgentExecutions: executions.listAgentExecutions,
  getExecution: executions.getExecution,
  cancelExecution: executionControl.cancelExecution,
  rerunExecution: executionControl.rerunExecution,
  getMetrics: agentMetrics.getMetrics,
  getExecutionMetrics: agentMetrics.getExecutionMetrics,
  listImprovements: improvements.listImprovements,
  selfImproveAgent: improvements.selfImproveAgent,
  listSkillCatalogue: skills.listSkillCatalogue,
  registerWebhook: webhooks.registerWebhook,
  listWebhooks: webhooks.listWebhooks,
  getWebhook: webhooks.getWebhook,
  updateWebhook: webhooks.updateWebhook,
  deleteWebhook: webhooks.deleteWebhook,
  rotateWebhookSecret: webhooks.rotateWebhookSecret,
  testWebhook: webhooks.testWebhook,
  listDeliveries: webhooks.listDeliveries,
  getDelivery: webhooks.getDelivery,
  redeliverDelivery: webhooks.redeliverDelivery,
  listEvents: eventLog.listEvents,
  getEvent: eventLog.getEvent,
  getMe: me.getMe,
  health: open.health,
  openapi: open.openapi,
  docs: open.docs,
  docsScript: open.docsScript,
  consolePage: console.consolePage,
  consoleAsset: console.consoleAsset,
  mcp: mcp.mcp,
  listPrompts: prompts.listPrompts,
  getPrompt: prompts.getPrompt,
  restorePrompt: prompts.restorePrompt,
  recoverWebhook: recoveries.recoverWebhook,
  getRecovery: recoveries.getRecovery,
  listRecoveries: recoveries.listRecoveries,
  cancelRecovery: recoveries.cancelRecovery,
  listSteps: steps.listSteps,
  listWebhookEvents: webhookEvents.listWebhookEvents,
} as const satisfies Record<string, Endpoint>;

/** The API references of all endpoints by their operation ids. */
export const references = {
  listTasks: tasks.listTasksReference,
  countTasks: tasks.countTasksReference,
  createTask: tasks.createTaskReference,
  getTask: tasks.getTaskReference,
  updateTask: tasks.updateTaskReference,
  deleteTask: tasks.deleteTaskReference,
  listAgents: agents.listAgentsReference,
  createAgent: agents.createAgentReference,
  getAgent: agents.getAgentReference,
  updateAgent: agents.updateAgentReference,
  deleteAgent: agents.deleteAgentReference,
  listSkills: agents.listSkillsReference,
  assignSkill: agents.assignSkillReference,
  unassignSkill: agents.unassignSkillReference,
  updateSoul: agents.updateSoulReference,
  executeAgent: executions.executeAgentReference,
  delegateTask: executions.delegateTaskReference,
  listExecutions: executions.listExecutionsReference,
  listAgentExecutions: executions.listAgentExecutionsReference,
  getExecution: executions.getExecutionReference,
  cancelExecution: executionControl.cancelExecutionReference,
  rerunExecution: executionControl.rerunExecutionReference,
  getMetrics: agentMetrics.getMetricsReference,
  getExecutionMetrics: agentMetrics.getExecutionMetricsReference,
  listImprovements: improvements.listImprovementsReference,
  selfImproveAgent: improvements.selfImproveAgentReference,
  listSkillCatalogue: skills.listSkillCatalogueReference,
  registerWebhook: webhooks.registerWebhookReference,
  listWebhooks: webhooks.listWebhooksReference,
  getWebhook: webhooks.getWebhookReference,
  updateWebhook: webhooks.updateWebhookReference,
  deleteWebhook: webhooks.deleteWebhookReference,
  rotateWebhookSecret: webhooks.rotateWebhookSecretReference,
  testWebhook: webhooks.testWebhookReference,
  listDeliveries: webhooks.listDeliveriesReference,
  getDelivery: webhooks.getDeliveryReference,
  redeliverDelivery: webhooks.redeliverDeliveryReference,
  listEvents: eventLog.listEventsReference,
  getEvent: eventLog.getEventReference,
  getMe: me.getMeReference,
  health: open.healthReference,
  openapi: open.openapiReference,
  docs: open.docsReference,
  docsScript: open.docsScriptReference,
  consolePage: console.consolePageReference,
  consoleAsset: console.consoleAssetReference,
  mcp: mcp.mcpReference,
  listPrompts: prompts.listPromptsReference,
  getPrompt: prompts.getPromptReference,
  restorePrompt: prompts.restorePromptReference,
  recoverWebhook: recoveries.recoverWebhookReference,
  getRecovery: recoveries.getRecoveryReference,
  listRecoveries: recoveries.listRecoveriesReference,
  cancelRecovery: recoveries.cancelRecoveryReference,
  listSteps: steps.listStepsReference,
  listWebhookEvents: webhookEvents.listWebhookEventsReference,
} as const;
