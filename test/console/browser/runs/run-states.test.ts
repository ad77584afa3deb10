import { describe, expect, it } from 'vitest';
import { completion, json, startChatServer } from '../../../infra/local/model/chat-server.ts';
import { until } from '../../../journeys/deployment.ts';
import { createAgent, createTask, endOf, execute } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, screens, useConsole } from '../console.ts';
import { scrollingTables } from '../scrolling-tables.ts';

/** Starts a model whose quality gates fail as the input says, which does not answer `broken`, and leaves `hanging` open. */
async function startJudgingModel() {
  const server = await startChatServer();
  server.chat = (response) => {
    const body = JSON.stringify(server.received.at(-1)?.body);
    const isQa = body.includes('You review the work of other agents');
    const fails = body.includes('both red') || (isQa && body.includes('QA red'));
    if (body.includes('VERDICT:')) json(completion(fails ? 'Bad.\nVERDICT: FAIL' : 'Good.\nVERDICT: PASS'))(response);
    else if (body.includes('broken')) json({ error: { message: 'The model is broken.' } }, 400)(response);
    else if (!body.includes('hanging')) json(completion('It is done.'))(response);
  };
  return {
    environment: { MODEL_BASE_URL: server.baseUrl, MODEL_NAME: 'judge' },
    /** Returns how many requests the model has left open. */
    hanging: () => server.received.filter(({ body }) => JSON.stringify(body ?? '').includes('hanging')).length,
  };
}

describe.runIf(program)('the states of runs in the console', async () => {
  const model = await startJudgingModel();
  const consoles = useConsole({ environment: model.environment });

  /** Runs an agent, and returns the id of the execution once it has ended. */
  async function run(agent: string, input: string, taskId?: string): Promise<string> {
    const before = model.hanging();
    const id = await execute(consoles.service(), agent, input, taskId ? { taskId } : {});
    if (input === 'hanging') {
      await until('the model is asked', () => model.hanging() > before);
      await consoles.service().api.cancelExecution({ params: { name: agent, id }, body: { delegated: true } });
    }
    await endOf(consoles.service(), agent, id);
    return id;
  }

  it.each(['desktop', 'phone'] as const)('tell gates that failed, and what was cancelled (%s)', async (size) => {
    const agent = await createAgent(consoles.service(), `judged-${size}`);
    const states = {
      'all good': ['completed', 'status-completed', 'passed', 'passed'],
      'QA red': ['completed, QA failed', 'status-gates_failed', 'passed', 'failed'],
      'both red': ['completed, both gates failed', 'status-gates_failed', 'failed', 'failed'],
      broken: ['failed', 'status-failed', 'skipped', 'skipped'],
      hanging: ['cancelled', 'status-cancelled', 'skipped', 'skipped'],
    } as const;
    for (const input of Object.keys(states)) await run(agent, input);
    const { page } = await consoles.open(
      { token: consoles.service().token, path: `/runs?agent=${agent}` },
      { viewport: screens[size] },
    );
    for (const [input, [text, color, selfTest, qaReview]] of Object.entries(states)) {
      const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: input, exact: true }) });
      const status = row.locator('.status');
      await status.getByText(text, { exact: true }).waitFor();
      expect(await status.getAttribute('class')).toBe(`status ${color}`);
      // Also on a phone.
      await row.getByRole('img', { name: `Self-test ${selfTest}` }).waitFor();
      await row.getByRole('img', { name: `QA review ${qaReview}` }).waitFor();
    }
    expect(await page.evaluate(scrollingTables)).toBe(0);
    expect(await page.evaluate('document.querySelector("main").scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it('are the same on the page of a run, in the panel of its task and in the event log', async () => {
    const agent = await createAgent(consoles.service(), 'shown', { capabilities: ['tasks.read'] });
    const red = await createTask(consoles.service(), 'Red');
    const id = await run(agent, 'both red', red);
    const { page } = await consoles.open({ token: consoles.service().token, path: `/runs/${agent}/${id}` });
    const heading = page.getByRole('heading', { level: 1 });
    await heading.getByText('completed, both gates failed').waitFor();
    await page.goto(`${consoles.service().url}/#/board?task=${red}`);
    await page.getByRole('region', { name: 'Result' }).getByText('completed, both gates failed').waitFor();

    const stopped = await createTask(consoles.service(), 'Stopped');
    const cancelled = await run(agent, 'hanging', stopped);
    await page.goto(`${consoles.service().url}/#/board?task=${stopped}`);
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('cancelled', { exact: true }).waitFor();
    await result.getByText('A request cancelled it, or the execution that delegated it.').waitFor();
    await page.goto(`${consoles.service().url}/#/runs/${agent}/${cancelled}`);
    await heading.getByText('cancelled').waitFor();
    await page.locator('.step summary').first().getByText('cancelled').waitFor();
    expect(await page.locator('main .failing, .bar-failed').count()).toBe(0);
    const reason = page.getByRole('alert').filter({ hasText: 'A request cancelled it' });
    expect(await reason.getAttribute('class')).not.toContain('failure');
    await page.goto(`${consoles.service().url}/#/events?execution=${cancelled}`);
    const event = page.getByRole('button', { name: /agent.failed/ });
    await event.getByText('shown: cancelled').waitFor();
    expect(await event.locator('.status-failed').count()).toBe(0);

    const broken = await run(agent, 'broken');
    await page.goto(`${consoles.service().url}/#/events?execution=${broken}`);
    await event.locator('.status-failed').waitFor();
  });

  it('say why a tried run failed, in a sentence', async () => {
    const agent = await createAgent(consoles.service(), 'tried', { maxTokens: 1_000 });
    const { page } = await consoles.open({ token: consoles.service().token, path: `/agents/${agent}?tab=try` });
    await page.getByRole('textbox', { name: 'Input' }).fill('hanging');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const result = page.getByRole('region', { name: 'Result' });
    const href = await result.getByRole('link', { name: 'Open the run' }).getAttribute('href');
    const id = href?.split('/').at(-1) as string;
    await consoles.service().api.cancelExecution({ params: { name: agent, id }, body: { delegated: true } });
    await result.getByText('A request cancelled it, or the execution that delegated it.').waitFor();
    await result.getByText('cancelled', { exact: true }).waitFor();
  });
});
