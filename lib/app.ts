import { appOf } from './apps/base.ts';
import { deliveriesApp } from './apps/deliveries.ts';
import { executionsApp } from './apps/executions.ts';
import { improvementsApp } from './apps/improvements.ts';
import { metricsApp } from './apps/metrics.ts';
import { pipelineApp } from './apps/pipeline.ts';
import { runsApp } from './apps/runs.ts';
import { type ContextOptions, createContext } from './context.ts';

/**
 * The app of this process with every part: what one machine, the command line and tests work with. No function has
 * it, for its bundle would be all of the house (docs/decisions/15-bundles-replace-modules-that-lambda-does-not-need.md).
 */
export const app = appOf((base) => ({
  ...executionsApp(base),
  ...metricsApp(base),
  ...improvementsApp(base),
  ...runsApp(base),
  ...pipelineApp(base),
  ...deliveriesApp(base),
}));

export type App = ReturnType<typeof app>;

/** Opens an app with every part over collaborators of its own. */
export function openApp(options: ContextOptions): App {
  return app(createContext(options));
}
