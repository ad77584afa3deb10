import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../../../lib/contract/agents/agents.ts';
import { successOf } from '../../../api.ts';
import { createAgent, newToken } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, useConsole } from '../console.ts';

describe.runIf(program)('the editor of an agent', () => {
  const consoles = useConsole();

  /** Creates an agent with a prompt, and opens a part of it. */
  const openAgent = async (name: string, tab: string) => {
    const body = { name, displayName: name, category: 'development', systemPrompt: 'Write one short sentence.' };
    successOf(await consoles.service().api.createAgent({ body }));
    return openAgain(name, tab);
  };
  const openAgain = (name: string, tab: string) =>
    consoles.open({ token: consoles.service().token, path: `/agents/${name}?tab=${tab}` });
  const read = async (name: string) => successOf<Agent>(await consoles.service().api.getAgent({ params: { name } }));
  const prompt = (page: Page) => page.getByLabel(/^System prompt/);
  const save = (page: Page) => page.getByRole('button', { name: 'Save' });

  it('saves a prompt as a version, shows what changed word by word, and restores the former one', async () => {
    const { page } = await openAgent('versions', 'prompt');
    await prompt(page).fill('Write one long sentence.');
    await page.getByText('1 field changed').waitFor();
    await save(page).click();
    await page.getByText('The agent is saved.').waitFor();
    expect((await read('versions')).systemPrompt).toBe('Write one long sentence.');

    await page.getByRole('link', { name: 'Versions' }).click();
    await page.getByText('2 versions').waitFor();
    const comparison = page.getByRole('region', { name: 'Comparison' });
    await comparison.locator('del', { hasText: 'short' }).waitFor();
    await comparison.locator('ins', { hasText: 'long' }).waitFor();

    await comparison.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog', { name: 'Restore version 1?' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page.getByText('3 versions').waitFor();
    expect((await read('versions')).systemPrompt).toBe('Write one short sentence.');
    await page.getByRole('button', { name: /Version 2/ }).click();
    await comparison.locator('del', { hasText: 'long' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it('saves every other field', async () => {
    const { page } = await openAgent('fields', 'prompt');
    await page.getByLabel('Display name').fill('All fields');
    await page.getByLabel('Description').fill('Has values.');
    await page.getByLabel(/^Soul/).fill('Be kind.');
    await page.getByLabel('Category').selectOption('research');
    await page.getByLabel('Status').selectOption('draft');
    await page.getByLabel('Step limit').fill('12');
    await page.getByLabel('Token limit').fill('5000');
    await page.getByLabel('delegate to other agents').check();
    await page.getByLabel('New label').fill('speaks-french');
    await page.getByRole('button', { name: 'Add label' }).click();
    await save(page).click();
    await page.getByText('The agent is saved.').waitFor();
    expect(await read('fields')).toMatchObject({
      displayName: 'All fields',
      description: 'Has values.',
      soul: 'Be kind.',
      category: 'research',
      status: 'draft',
      maxSteps: 12,
      maxTokens: 5_000,
      capabilities: ['delegate', 'speaks-french'],
      systemPrompt: 'Write one short sentence.',
    });
    await page.getByRole('button', { name: 'Remove speaks-french' }).click();
    await page.getByLabel('Description').fill('');
    await page.getByLabel('Step limit').fill('');
    await save(page).click();
    await page.getByText('No changes').waitFor();
    const { description, capabilities, maxSteps, maxTokens } = await read('fields');
    expect({ description, capabilities, maxSteps, maxTokens }).toEqual({
      ...{ description: undefined, capabilities: ['delegate'], maxSteps: undefined, maxTokens: 5_000 },
    });
  });

  it('lets an agent start by itself, and shows it in the overview', async () => {
    const { page } = await openAgent('autonomous', 'prompt');
    expect(await page.getByLabel(/^Runs at a time/).count()).toBe(0);
    await page.getByLabel('Starts by itself').check();
    await page.getByLabel(/^Runs at a time/).fill('3');
    await page.getByLabel(/^Retries/).fill('1');
    await page.getByLabel('Accepts by itself').check();
    await page.getByText('No person reads the output before').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await save(page).click();
    await page.getByText('The agent is saved.').waitFor();
    expect(await read('autonomous')).toMatchObject({ autoRun: true, maxRunning: 3, autoRetry: 1, autoAccept: true });
    await page.getByRole('navigation', { name: 'Parts of the agent' }).getByRole('link', { name: 'Overview' }).click();
    const facts = page.getByRole('region', { name: 'Facts' });
    await facts.getByText('yes, 3 runs at a time, 1 retry', { exact: true }).waitFor();
    await facts.getByText('yes, if both gates pass', { exact: true }).waitFor();
    await facts.getByText('gets their results', { exact: true }).waitFor();
  });

  it('does not let a token without tasks:write accept outputs, but lets it switch that off', async () => {
    await createAgent(consoles.service(), 'careful');
    await createAgent(consoles.service(), 'trusting', { autoAccept: true });
    const token = await newToken(consoles.service(), 'local', '--scopes', 'agents:read,agents:write');
    const { page } = await consoles.open({ token, path: '/agents/careful?tab=prompt' });
    await page.getByText('needs the scope tasks:write').waitFor();
    expect(await page.getByLabel('Accepts by itself').isDisabled()).toBe(true);
    // Nor does it run agents.
    expect(await page.getByLabel('Starts by itself').isDisabled()).toBe(true);
    await page.goto(`${consoles.service().url}/#/agents/trusting?tab=prompt`);
    await page.getByRole('heading', { level: 1, name: /trusting/ }).waitFor();
    await page.getByLabel('Accepts by itself').uncheck();
    await save(page).click();
    await page.getByText('The agent is saved.').waitFor();
    expect((await read('trusting')).autoAccept).toBe(false);
  });

  it('shows at its field what the service does not accept, until the field is changed', async () => {
    const one = await openAgent('invalid', 'prompt');
    const { page } = one;
    const displayName = page.getByLabel('Display name');
    await displayName.fill(' ');
    await save(page).click();
    await page
      .locator('.field')
      .filter({ has: displayName })
      .getByText('must have at least one visible character')
      .first()
      .waitFor();
    expect(await displayName.getAttribute('aria-invalid')).toBe('true');
    expect(await accessibilityProblems(page)).toEqual([]);
    await displayName.fill('A name');
    expect(await displayName.getAttribute('aria-invalid')).toBe('false');
    expect(one.problems.splice(0)).toEqual([expect.stringContaining('400')]);
  });

  it('keeps what is entered while another part is shown, until it is discarded', async () => {
    const { page } = await openAgent('discarded', 'prompt');
    await prompt(page).fill('A mistake.');
    await page.getByRole('link', { name: 'Versions' }).click();
    await page.getByText('1 version').waitFor();
    await page.getByRole('link', { name: 'Prompt' }).click();
    expect(await prompt(page).inputValue()).toBe('A mistake.');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    expect(await prompt(page).inputValue()).toBe('Write one short sentence.');
    expect(await save(page).isDisabled()).toBe(true);
  });

  it('shows both versions if two users change an agent, and saves the one that the user chooses', async () => {
    const first = await openAgent('shared', 'prompt');
    const second = await openAgain('shared', 'prompt');
    await prompt(first.page).fill('From the first user.');
    await prompt(second.page).fill('From the second user.');
    await second.page.getByLabel('Description').fill('Described by the second user.');
    await save(second.page).click();
    await second.page.getByText('The agent is saved.').waitFor();

    await save(first.page).click();
    await first.page.getByRole('heading', { name: 'Another user has changed the agent' }).waitFor();
    for (const text of ['From the first user.', 'From the second user.'])
      await first.page.getByText(text, { exact: true }).waitFor();
    expect((await read('shared')).systemPrompt).toBe('From the second user.');
    expect(await accessibilityProblems(first.page)).toEqual([]);

    await first.page.getByRole('button', { name: 'Continue with your version' }).click();
    expect(await prompt(first.page).inputValue()).toBe('From the first user.');
    await save(first.page).click();
    await first.page.getByText('The agent is saved.').waitFor();
    // The fields that only the second user changed keep their values.
    expect(await read('shared')).toMatchObject({
      systemPrompt: 'From the first user.',
      description: 'Described by the second user.',
    });
    // The browser reports each 412 as an error.
    expect(first.problems.splice(0)).toEqual([expect.stringContaining('412')]);
  });

  it('takes the version of the other user if the user discards the own one', async () => {
    const one = await openAgent('yielded', 'prompt');
    await prompt(one.page).fill('From the console.');
    const body = { systemPrompt: 'From the API.' };
    successOf(await consoles.service().api.updateAgent({ params: { name: 'yielded' }, body }));
    await save(one.page).click();
    await one.page.getByRole('button', { name: 'Discard your changes' }).click();
    expect(await prompt(one.page).inputValue()).toBe('From the API.');
    expect((await read('yielded')).systemPrompt).toBe('From the API.');
    expect(one.problems.splice(0)).toEqual([expect.stringContaining('412')]);
  });

  it('is used by the keyboard alone, from the list to a saved prompt', async () => {
    const { page } = await openAgent('keyboard', 'overview');
    const focused = () => page.evaluate<string>('document.activeElement.textContent || document.activeElement.tagName');
    /** Presses Tab until the focus is on the element with a text. */
    const tabTo = async (text: string) => {
      for (let presses = 0; presses < 60 && (await focused()) !== text; presses++) await page.keyboard.press('Tab');
      expect(await focused()).toBe(text);
    };
    await page.getByRole('heading', { level: 1, name: /keyboard/ }).waitFor();
    await tabTo('Prompt');
    await page.keyboard.press('Enter');
    await prompt(page).waitFor();
    await tabTo('Write one short sentence.');
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' Be calm.');
    await tabTo('Save');
    await page.keyboard.press('Enter');
    await page.getByText('The agent is saved.').waitFor();
    expect((await read('keyboard')).systemPrompt).toBe('Write one short sentence. Be calm.');
  });
});
