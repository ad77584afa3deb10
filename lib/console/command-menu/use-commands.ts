import { useLocation, useNavigate, useRouteContext } from '@tanstack/react-router';
import type { Findable } from '../components/dialogs/search-dialog.tsx';
import { isId } from '../components/format/is-id.ts';
import { useAgentNames } from '../components/hooks/use-agent-names.ts';
import type { FoundTasks } from '../components/hooks/use-task-search.ts';
import { useWebhooks } from '../components/hooks/use-webhooks.ts';
import { webhookName } from '../components/hooks/webhook-name.ts';
import { useKeysDialog } from '../keys/use-keys-dialog.tsx';
import { useScreens } from '../navigation.ts';
import { type Scope, useSession } from '../session.ts';
import { chooseTheme, themes, useTheme } from '../theme.ts';

/** A command of the menu. `status` is that of a task. */
type Command = Findable & { status?: string; run: () => void };

/** The dialogs that create something: the screen that has them, and the search parameter that opens them there. */
const creations = [
  { label: 'Create a task', to: '/board', create: 'backlog', scopes: ['tasks:read', 'tasks:write'] },
  { label: 'Create an agent', to: '/agents', create: 'agent', scopes: ['agents:read', 'agents:write'] },
  { label: 'Register a webhook', to: '/webhooks', create: 'webhook', scopes: ['webhooks:read', 'webhooks:write'] },
] as const satisfies readonly { label: string; to: string; create: string; scopes: readonly Scope[] }[];

/**
 * Returns the commands that the token may use, in the order of their groups.
 *
 * @param typed what the user has entered: an id is a command that opens what it names
 * @param found the tasks that the service has found
 */
export function useCommands(typed: string, found: FoundTasks): readonly Command[] {
  const { me } = useSession();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const { signOut } = useRouteContext({ from: '__root__' });
  const screens = useScreens();
  const theme = useTheme();
  const listKeys = useKeysDialog();
  const agents = useAgentNames() ?? [];
  const { data: webhooks = [] } = useWebhooks();
  const has = (scope: Scope) => me.scopes.includes(scope);
  const id = typed.trim();

  return [
    ...(isId('tk', id) && has('tasks:read')
      ? [{ group: 'Open', label: `Task ${id}`, run: () => void navigate({ to: '/board', search: { task: id } }) }]
      : []),
    ...(isId('ev', id) && has('webhooks:read')
      ? [{ group: 'Open', label: `Event ${id}`, run: () => void navigate({ to: '/events', search: { id } }) }]
      : []),
    ...screens.map(({ to, label }) => ({ group: 'Go to', label, run: () => void navigate({ to }) })),
    { group: 'Go to', label: 'API reference', keywords: 'docs', run: () => location.assign('/docs') },
    ...creations
      .filter(({ scopes }) => scopes.every(has))
      .map(({ label, to, create }) => ({
        group: 'Actions',
        label,
        keywords: 'new add',
        run: () => {
          const isThere = pathname === to;
          // The filters of the screen stay.
          void navigate({ to, search: (search: object) => ({ ...(isThere && search), create }), replace: isThere });
        },
      })),
    { group: 'Actions', label: 'List the keys', keywords: 'keyboard shortcuts help', run: listKeys },
    ...themes
      .filter((one) => one !== theme)
      .map((one) => ({
        group: 'Actions',
        label: `Use the ${one} theme`,
        keywords: 'change mode appearance',
        run: () => chooseTheme(one),
      })),
    { group: 'Actions', label: 'Sign out', keywords: 'log', run: signOut },
    ...agents.map((name) => ({
      group: 'Agents',
      label: name,
      run: () => void navigate({ to: '/agents/$name', params: { name } }),
    })),
    // An id that is pasted finds its webhook.
    ...webhooks.map(({ id, url, description }) => ({
      group: 'Webhooks',
      label: webhookName({ url, description }),
      keywords: `${id} ${url}`,
      run: () => void navigate({ to: '/webhooks/$id', params: { id } }),
    })),
    // The last group, so that what is found later moves nothing. A pasted id is a command already.
    ...(isId('tk', id) ? [] : found.tasks).map(({ id, title, status }) => ({
      group: 'Tasks',
      label: title,
      status,
      // The service knows which words match.
      keywords: `${id} ${found.text}`,
      run: () => void navigate({ to: '/board', search: { task: id } }),
    })),
  ];
}
