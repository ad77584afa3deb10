import { openAgents } from '../agents/agents.ts';
import { openPurgeStore } from '../table/purges.ts';
import { openSettings } from '../table/settings.ts';
import { appOf } from './base.ts';
import { agentStoreOf, defaultModelOf } from './stores.ts';

/** The app of functions that serve agents and their skills. */
export const agentsApp = appOf((base) => {
  const { table, ulid, clock } = base;
  const store = agentStoreOf(base);
  const defaultModel = defaultModelOf(base);
  const settings = openSettings(table);
  return {
    /** The deployment's default model, where an organization sets none. */
    defaultModel,
    settings,
    agents: openAgents({ store, purges: openPurgeStore(table), settings, defaultModel, ulid, clock }),
  };
});
