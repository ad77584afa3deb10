import { appOf } from './apps/base.ts';
import { deliveriesApp } from './apps/deliveries.ts';
import { pipelineApp } from './apps/pipeline.ts';
import { type ContextOptions, createContext } from './context.ts';

/**
 * The app of this process with every part: what one machine, the command line and tests work with. No function has
 * it, for its bundle would be all of the house (docs/decisions/15-bundles-replace-modules-that-lambda-does-not-need.md).
 */
export const app = appOf((base) => ({
  ...pipelineApp(base),
  ...deliveriesApp(base),
}));

export type App = ReturnType<typeof app>;

/** Opens an app with every part over collaborators of its own. */
export function openApp(options: ContextOptions): App {
  return app(createContext(options));
}
