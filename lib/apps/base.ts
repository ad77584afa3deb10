import { type Context, processContext } from '../context.ts';

/**
 * An app: the context and the parts that a family of functions works with. Each context opens them once, so that apps that
 * have a part in common share it.
 *
 * @returns the app over a context, which is this process's if none is given
 */
export function appOf<Parts extends object>(open: (context: Context) => Parts): (on?: Context) => Context & Parts {
  const apps = new WeakMap<Context, Context & Parts>();
  return (on = processContext()) => {
    const app = apps.get(on) ?? { ...on, ...open(on) };
    apps.set(on, app);
    return app;
  };
}
