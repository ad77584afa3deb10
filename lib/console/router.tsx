import { createHashHistory, createRootRouteWithContext, createRoute, createRouter, Link } from '@tanstack/react-router';
import { Failure } from './components/failure.tsx';
import { lazyScreen } from './components/lazy-screen.tsx';
import { PageHead } from './components/page.tsx';
import { Overview } from './screens/overview/overview.tsx';
import { Shell } from './shell.tsx';

/** Returns the validator of a screen's search parameters: all are texts, and others are dropped. */
function texts<const Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): { [Key in Name]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
      }),
    ) as { [Key in Name]?: string };
}

const root = createRootRouteWithContext<{ signOut: () => void }>()({
  component: Shell,
  notFoundComponent: NotFound,
});

function NotFound() {
  return (
    <>
      <PageHead title="There is no such page" />
      <Link to="/">Go to the overview</Link>
    </>
  );
}

const getParentRoute = () => root;

const routeTree = root.addChildren([
  createRoute({ getParentRoute, path: '/', component: Overview }),
  createRoute({
    getParentRoute,
    path: '/board',
    validateSearch: texts('project', 'agent', 'priority', 'task', 'create'),
    component: lazyScreen(() => import('./screens/board/board.tsx'), 'Board'),
  }),
  createRoute({
    getParentRoute,
    path: '/runs',
    validateSearch: texts('status', 'agent'),
    component: lazyScreen(() => import('./screens/runs/runs.tsx'), 'Runs'),
  }),
  createRoute({
    getParentRoute,
    path: '/runs/$agent/$id',
    component: lazyScreen(() => import('./screens/runs/run.tsx'), 'Run'),
  }),
  createRoute({
    getParentRoute,
    path: '/agents',
    validateSearch: texts('search', 'category', 'status', 'create'),
    component: lazyScreen(() => import('./screens/agents/agents.tsx'), 'Agents'),
  }),
  createRoute({
    getParentRoute,
    path: '/agents/$name',
    validateSearch: texts('tab', 'period', 'from'),
    component: lazyScreen(() => import('./screens/agents/agent.tsx'), 'Agent'),
  }),
  createRoute({
    getParentRoute,
    path: '/webhooks',
    validateSearch: texts('create'),
    component: lazyScreen(() => import('./screens/webhooks/webhooks.tsx'), 'Webhooks'),
  }),
  createRoute({
    getParentRoute,
    path: '/webhooks/$id',
    validateSearch: texts('view', 'state', 'status', 'event', 'since', 'until'),
    component: lazyScreen(() => import('./screens/webhooks/webhook.tsx'), 'Webhook'),
  }),
  createRoute({
    getParentRoute,
    path: '/webhooks/$id/deliveries/$deliveryId',
    component: lazyScreen(() => import('./screens/webhooks/deliveries/delivery.tsx'), 'Delivery'),
  }),
  createRoute({
    getParentRoute,
    path: '/events',
    validateSearch: texts('event', 'task', 'execution', 'since', 'until', 'id'),
    component: lazyScreen(() => import('./screens/events/events.tsx'), 'Events'),
  }),
]);

/**
 * Returns the router. The screen is in the fragment of the URL, so the service has a single page and no request names a
 * screen.
 *
 * @param signOut ends the session
 */
export function createConsoleRouter(signOut: () => void) {
  return createRouter({
    routeTree,
    history: createHashHistory(),
    context: { signOut },
    defaultPreload: 'intent',
    defaultErrorComponent: ({ error, reset }) => <Failure error={error} retry={reset} />,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
