import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { createClient } from '../../../lib/client/client.ts';
import { loadDemo } from '../../../lib/console/demo/load-demo.ts';
import type { Task } from '../../../lib/contract/tasks/tasks.ts';
import type { DeliveryRecord } from '../../../lib/contract/webhooks/webhooks.ts';
import { dataOf, successOf } from '../../api.ts';
import type { Deployment } from '../../journeys/deployment.ts';
import { attemptsOf, endOf, execute, newScript, register } from '../../journeys/requests.ts';
import { startReceiver } from '../../sender/receiver.ts';

/** A screen or a dialog of the console. */
export type View = {
  name: string;
  path: string;
  /** A text that the screen has when it is complete. */
  shows: string;
  /** Opens the dialog, whose name it has. */
  open?: (page: Page) => Promise<unknown>;
  dialog?: string;
};

/** The environment of a service that `createViews` fills. An attempt that fails is not repeated, and a run does not end. */
export const environmentOfViews = () => ({
  RETRY_LADDER: '86400,86400,86400',
  MODEL_SCRIPT: newScript([
    { match: '/two headlines[\\s\\S]*VERDICT/', text: 'The second headline names no reader.\nVERDICT: FAIL' },
    { match: 'Translate all pages', text: 'Translated.', delayMs: 600_000 },
  ]),
});

const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).first().click();

/** Presses a key until a dialog is there: the page listens to keys a moment after it is shown. */
const pressKey = (key: string) => async (page: Page) => {
  const dialog = page.locator('.modal');
  await expect
    .poll(async () => {
      if ((await dialog.count()) === 0) await page.keyboard.press(key);
      return dialog.count();
    })
    .toBe(1);
};

const choose = (name: string) => async (page: Page) => {
  await press('More actions')(page);
  await page.getByRole('menuitem', { name }).click();
};

/**
 * Fills an organization as a day of work does: the demo board, a run with a gate that failed, one that goes on, a claimed task, a
 * webhook that works and one that fails.
 *
 * @returns all screens of the console, and its dialogs
 */
export async function createViews(service: Deployment): Promise<View[]> {
  const { api } = service;
  const [working, failing] = [await startReceiver(), await startReceiver((response) => response.writeHead(500).end())];
  const webhook = await register(service, { url: working.url, events: ['task.created', 'agent.completed'] });
  const failed = await register(service, { url: failing.url, events: ['task.created'] });
  await loadDemo(createClient({ url: service.url, token: service.token }));
  const tasks = dataOf<Task[]>(await api.listTasks({ query: 'limit=100' }));
  const idOf = (title: string) => tasks.find((one) => one.title === title)?.id as string;
  const reviewed = idOf('Write the page about prices');
  const judged = await execute(service, 'demo-writer', 'Write two headlines.', { taskId: reviewed });
  await endOf(service, 'demo-writer', judged);
  const running = await execute(service, 'demo-writer', 'Translate all pages.');
  successOf(
    await api.claimTask({ params: { id: idOf('Write the questions and answers') }, body: { worker: 'claude-1' } }),
  );
  const delivery = ((await attemptsOf(service, failed, 12))[0] as DeliveryRecord).id;

  const agent = '/agents/demo-writer';
  const onTask = `/board?task=${reviewed}`;
  const onWebhook = `/webhooks/${failed}`;
  return [
    { name: 'overview', path: '/', shows: 'Latest runs' },
    { name: 'board', path: '/board', shows: 'Announce the website' },
    { name: 'task', path: onTask, shows: 'History' },
    { name: 'claimed-task', path: `/board?task=${idOf('Write the questions and answers')}`, shows: 'History' },
    { name: 'runs', path: '/runs', shows: 'Write the page about prices' },
    { name: 'run', path: `/runs/demo-writer/${judged}`, shows: 'Quality gates' },
    { name: 'agents', path: '/agents', shows: 'demo-writer' },
    ...(
      [
        ['overview', 'Tokens'],
        ['prompt', 'System prompt'],
        ['versions', 'Version 1'],
        ['skills', 'Catalogue'],
        ['try', 'Input'],
        ['improvements', 'No improvements yet'],
      ] as const
    ).map(([tab, shows]) => ({ name: `agent-${tab}`, path: `${agent}?tab=${tab}`, shows })),
    { name: 'webhooks', path: '/webhooks', shows: failing.url },
    { name: 'webhook', path: `/webhooks/${webhook}`, shows: 'delivered' },
    { name: 'failing-webhook', path: onWebhook, shows: 'task.created' },
    { name: 'attempts', path: `${onWebhook}?view=attempts`, shows: '500' },
    { name: 'delivery', path: `${onWebhook}/deliveries/${delivery}`, shows: '500' },
    { name: 'events', path: '/events', shows: 'agent.completed' },
    { name: 'missing', path: '/nowhere', shows: 'There is no such page' },

    ...(
      [
        ['command-menu', '/', 'Command menu', pressKey('Control+k')],
        ['keys', '/board', 'Keys', pressKey('?')],
        ['remove-demo', '/', 'Remove the demo?', press('Remove the demo')],
        ['choose-agent', onTask, 'Agent of', pressKey('a')],
        ['create-task', '/board?create=backlog', 'Create a task', undefined],
        ['edit-task', onTask, 'Write the page about prices', press('Edit')],
        ['delete-task', onTask, 'Delete the task?', choose('Delete…')],
        ['run-task', onTask, 'Run demo-writer on this task', press('Run demo-writer')],
        [
          'take-back',
          `/board?task=${idOf('Write the questions and answers')}`,
          'Take the task back?',
          press('Take back'),
        ],
        ['cancel-run', `/runs/demo-writer/${running}`, 'Cancel this run?', press('Cancel')],
        ['create-agent', '/agents?create=agent', 'Create an agent', undefined],
        ['delete-agent', agent, 'Delete Demo writer?', choose('Delete…')],
        ['improve', `${agent}?tab=improvements`, 'Improve the prompt?', press('Improve now')],
        ['register-webhook', '/webhooks?create=webhook', 'Register a webhook', undefined],
        ['send-test', onWebhook, 'Send a test event', press('Send test')],
        ['edit-webhook', onWebhook, 'Edit the webhook', choose('Edit…')],
        ['rotate', onWebhook, 'Rotate the secret', choose('Rotate the secret…')],
        ['recover', onWebhook, 'Recover missed events', choose('Recover since…')],
        ['delete-webhook', onWebhook, 'Delete the webhook', choose('Delete…')],
      ] as const
    ).map(([name, path, dialog, open]) => ({ name, path, dialog, shows: dialog, ...(open && { open }) })),
  ];
}

/** Shows a view, complete. */
export async function showView(page: Page, { url }: Deployment, { path, shows, dialog, open }: View): Promise<void> {
  // Another fragment alone would keep the dialog of the view before.
  await page.goto('about:blank');
  await page.goto(`${url}/#${path}`);
  if (open) {
    await page.locator('main h1').waitFor();
    await open(page);
  }
  const place = dialog === undefined ? page.locator('body') : page.getByRole('dialog', { name: dialog });
  if (dialog === undefined) await place.getByText(shows).filter({ visible: true }).first().waitFor();
  else await place.waitFor();
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
}
