import { openAgents } from '../agents/agents.ts';
import { openPurgeStore } from '../table/purges.ts';
import { openSettings } from '../table/settings.ts';
import { appOf } from './base.ts';
import { agentStoreOf, allowedModelsOf, defaultModelOf } from './stores.ts';

/** The app of functions that serve agents and their skills. */
export const agentsApp = appOf((base) => {
  const { table, ulid, clock } = base;
  const store = agentStoreOf(base);
  const defaultModel = defaultModelOf(base);
  const allowedModels = allowedModelsOf(base);
  const settings = openSettings(table);
  return {
    /** The deployment's default model, where an organization sets none. */
    defaultModel,
    /** The models that agents may name; `undefined` where every model is allowed. */
    allowedModels,
    settings,
    agents: openAgents({ store, purges: openPurgeStore(table), settings, defaultModel, allowedModels, ulid, clock }),
  };
});
