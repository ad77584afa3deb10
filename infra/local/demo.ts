import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Delivery } from '../../lib/client/verify-webhook.ts';
import { startReceiver } from './demo-receiver.ts';
import { startDeployment } from './deployment.ts';
import { Problem } from './problem.ts';
import { findRunning } from './running.ts';
import { readSettings } from './settings.ts';

/** Where the story is told: a service, a token of it, and how to leave. */
type Stage = { url: string; token: string; leave: () => Promise<void> };

/** How long the last deliveries may take to arrive. */
const patienceMs = 30_000;

/** `npm run demo`: a board, a receiver, and every delivery as it arrives with its signature checked. */
async function main(): Promise<void> {
  const stage = await findStage();
  const secret = randomBytes(24).toString('base64url');
  const deliveries = gather();
  const receiver = await startReceiver(secret, deliveries);
  console.log(`The service is at ${stage.url}, a receiver listens at ${receiver.url}.\n`);
  try {
    await tellStory(stage, receiver.url, secret, deliveries);
  } finally {
    receiver.stop();
    await stage.leave();
  }
}

async function tellStory(
  stage: Stage,
  receiver: string,
  secret: string,
  deliveries: ReturnType<typeof gather>,
): Promise<void> {
  const events = ['task.created', 'task.status_changed', 'task.completed'];
  const webhook = await call(stage, 'POST', '/api/webhooks/register', { url: receiver, events, secret });
  say(`A webhook is registered: ${webhook.id} hears ${events.join(', ')}.`);
  try {
    const design = await call(stage, 'POST', '/api/kanban-tasks', { title: 'Draw the landing page', priority: 'high' });
    say(`A task is on the board: ${design.id} “${design.title}”.`);
    const build = await call(stage, 'POST', '/api/kanban-tasks', {
      title: 'Build the landing page',
      assignedAgent: 'qa-reviewer',
      dependsOn: [design.id],
    });
    say(`A second one waits for it: ${build.id} “${build.title}”.`);
    for (const status of ['in_progress', 'done']) {
      await call(stage, 'PATCH', `/api/kanban-tasks/${design.id}`, { status });
      say(`The first one moves to ${status}.`);
    }
    await deliveries.reach(5);
    const { data: history, pagination } = await request(stage, 'GET', `/api/webhooks/${webhook.id}/deliveries`);
    say(`The history lists ${pagination.total} attempts; the newest: ${JSON.stringify(history[0])}`);
    for (const task of [build, design]) await call(stage, 'DELETE', `/api/kanban-tasks/${task.id}`);
    say('\nThe two tasks and the webhook are deleted again.');
  } finally {
    await call(stage, 'DELETE', `/api/webhooks/${webhook.id}`);
  }
}

/** The running service on the data folder, or a fresh one on a folder that goes with it. */
async function findStage(): Promise<Stage> {
  const settings = readSettings(process.env);
  const running = await findRunning(settings.dataFolder).catch(() => undefined);
  if (running) {
    const token = readFileSync(join(settings.dataFolder, 'token'), 'utf8').trim();
    return { url: running.url, token, leave: async () => {} };
  }
  console.log('No service is running here, so the demo starts one of its own.');
  process.env.POWERTOOLS_LOG_LEVEL ??= 'SILENT';
  const dataFolder = mkdtempSync(join(tmpdir(), 'crewboard-demo-'));
  const { url, token, stop } = await startDeployment({ ...settings, dataFolder, port: 0 });
  const leave = async () => {
    await stop();
    rmSync(dataFolder, { recursive: true });
  };
  return { url, token, leave };
}

/** Shows deliveries as they arrive, and waits for a number of them. One that is refused ends the demo. */
function gather() {
  const seen = new Set<string>();
  const waiting: (() => void)[] = [];
  let refusal: string | undefined;
  return {
    onDelivery: ({ event, deliveryId, data }: Delivery) => {
      const { id, status } = 'task' in data ? data.task : data.execution;
      const before = 'task' in data ? data.task.previousStatus : undefined;
      const moved = before ? `${before} → ${status}` : status;
      console.log(`   ⇠ ${event.padEnd(20)} ${id} ${moved}   signature valid`);
      seen.add(deliveryId);
      for (const look of waiting) look();
    },
    onRefusal: (why: string) => {
      refusal = why;
      for (const look of waiting) look();
    },
    reach: (number: number) =>
      new Promise<void>((resolve, reject) => {
        const late = new Problem(`${seen.size} of ${number} deliveries arrived within ${patienceMs / 1000} s.`);
        const timer = setTimeout(() => reject(late), patienceMs);
        const look = () => {
          if (seen.size < number && !refusal) return;
          clearTimeout(timer);
          refusal ? reject(new Problem(`The receiver refused a delivery. ${refusal}`)) : resolve();
        };
        waiting.push(look);
        look();
      }),
  };
}

type Answer = {
  success: boolean;
  data: Record<string, never> & { [field: string]: string }[];
  pagination: { total: number };
  error?: { message: string };
};

async function request({ url, token }: Stage, method: string, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const json = (await answer.json()) as Answer;
  if (!json.success) throw new Problem(`${method} ${path} was refused: ${json.error?.message}`);
  return json;
}

async function call(stage: Stage, method: string, path: string, body?: object): Promise<Record<string, string>> {
  const { data } = await request(stage, method, path, body);
  return data as unknown as Record<string, string>;
}

function say(sentence: string): void {
  console.log(sentence);
}

main().catch((error: unknown) => {
  console.error(error instanceof Problem ? `The demo has ended: ${error.message}` : error);
  process.exitCode = 1;
});
