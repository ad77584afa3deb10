import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventNames } from '../../lib/contract/webhooks/events.ts';
import { type Deployment, startDeployment } from '../journeys/deployment.ts';
import { findChromium } from './chromium.ts';
import { openDocs, type Reader, screens } from './reader.ts';

const program = findChromium(process.env);

describe.runIf(program)('the contents of the documentation page', () => {
  let browser: Browser;
  let service: Deployment;
  let reader: Reader;

  beforeAll(async () => {
    service = await startDeployment();
    browser = await chromium.launch({ executablePath: program as string });
    reader = await openDocs(await browser.newContext({ viewport: screens.desktop }), service.url);
  });
  afterAll(() => browser?.close());

  const sidebar = () => reader.page.getByRole('complementary');

  it('has the guides, which the introduction links to', async () => {
    await reader.page.getByRole('link', { name: 'Receiving webhooks' }).last().click();
    await reader.page.getByRole('heading', { name: 'Verify' }).waitFor();
    await sidebar().getByRole('link', { name: 'How agents work' }).click();
    await reader.page.getByRole('heading', { name: 'Quality gates' }).waitFor();
  });

  it('lists each event by its name', async () => {
    await sidebar().getByRole('button', { name: 'Open Group - Events' }).click();
    for (const name of eventNames) await sidebar().getByRole('link', { name }).waitFor();
  });

  it('lists neither its own script nor Markdown', async () => {
    for (const group of ['Tasks', 'Agents', 'Webhooks', 'Service'])
      await sidebar()
        .getByRole('button', { name: `Open Group - ${group}` })
        .click();
    await sidebar().getByRole('link', { name: 'Check the health of the service' }).waitFor();
    expect(await sidebar().innerText()).not.toMatch(/script|`|\*\*/);
  });

  it('offers commands without an Idempotency-Key, which each request needs of its own', async () => {
    await sidebar().getByRole('link', { name: 'Create a task' }).click();
    await reader.page.getByRole('heading', { name: 'Create a task' }).waitFor();
    const command = reader.page.locator('pre').filter({ hasText: '--request POST' }).first();
    expect(await command.innerText()).not.toContain('Idempotency-Key');
  });

  it('sends the first example of an operation as it is offered', async () => {
    await reader.page.goto(`${service.url}/docs`);
    await reader.enterToken(service.token);
    for (const [method, path, summary, status] of [
      ['post', '/api/kanban-tasks', 'Create a task', '201 Created'],
      ['post', '/api/agents', 'Create an agent', '201 Created'],
      ['patch', '/api/agents/{name}', 'Update an agent', '200 OK'],
      ['post', '/api/agents/{name}/execute', 'Run an agent', '200 OK'],
      ['post', '/api/agents/{name}/delegate', 'Delegate to another agent', '200 OK'],
      ['post', '/api/webhooks/register', 'Register a webhook', '201 Created'],
    ] as const) {
      await reader.search(summary);
      await reader.choose(summary);
      await reader.openClient(method, path);
      await reader.send(status);
      await reader.closeClient();
    }
  });
});
