import type { BrowserContext, Page } from 'playwright-core';

/** What people read on, in CSS pixels. */
export const screens = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

/** All that the browser has noted of a page: every address that was asked, and what it has found wrong. */
type Noted = { requests: URL[]; faults: string[] };

/** Someone who uses the docs page by what is shown there. */
export type Reader = ReturnType<typeof readerOf>;

/** Opens the docs page of the service at an address, and waits until the document is shown. */
export async function openDocs(context: BrowserContext, url: string): Promise<Reader> {
  const noted: Noted = { requests: [], faults: [] };
  context.on('request', (request) => noted.requests.push(new URL(request.url())));
  context.on('weberror', (error) => noted.faults.push(String(error.error())));
  context.on('console', (message) => {
    // What the page's policy has refused is told here too.
    if (['error', 'warning'].includes(message.type())) noted.faults.push(message.text());
  });
  const page = await context.newPage();
  page.on('websocket', (socket) => noted.requests.push(new URL(socket.url())));
  await page.goto(`${url}/docs`);
  await page.getByRole('heading', { level: 1, name: 'Crewboard' }).waitFor();
  return readerOf(page, noted);
}

function readerOf(page: Page, noted: Noted) {
  const client = page.getByRole('dialog', { name: 'API Client' });
  const sendButton = client.getByRole('button', { name: /^send \w+ request to/i });
  const menuButton = page.getByRole('button', { name: /menu/i });
  const onPhone = page.viewportSize()?.width === screens.phone.width;

  return {
    page,
    noted,

    /** Types into the search box. */
    search: async (words: string) => {
      if (onPhone) await menuButton.click();
      await page.getByRole('button', { name: /^open search/i }).click();
      await page.getByRole('combobox', { name: 'Enter search query' }).fill(words);
    },

    /** Follows what was found under this name, and waits until it is shown. */
    choose: async (summary: string) => {
      await page.getByRole('option').filter({ hasText: summary }).first().click();
      await page.getByRole('heading', { name: summary }).waitFor();
    },

    /** Enters a token where the page asks for one. */
    enterToken: (token: string) => page.getByPlaceholder('Token', { exact: true }).first().fill(token),

    /** Opens the form by which a row is tried. */
    openClient: async (method: string, path: string) => {
      await page.getByRole('button', { name: `Test Request (${method} ${path})` }).click();
      await sendButton.waitFor();
    },

    /** Replaces the body that would be sent. */
    writeBody: async (body: object) => {
      await client.getByRole('textbox').filter({ hasText: '{' }).click();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.insertText(JSON.stringify(body));
    },

    /** Sends what is in the form, and waits until an answer of this status is shown. */
    send: async (status: string) => {
      await sendButton.click();
      await client.getByText(status).waitFor();
    },

    /** The body of the answer, as it is shown. */
    shownBody: () => client.getByRole('textbox').filter({ hasText: '"success"' }).innerText(),

    /** By how many pixels what is shown is wider than the screen. */
    overhang: () => page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),

    /** All that the browser keeps for the page. */
    kept: async () => {
      const stored = await page.context().storageState({ indexedDB: true });
      return JSON.stringify([stored, await page.evaluate('Object.values(sessionStorage)')]);
    },
  };
}
