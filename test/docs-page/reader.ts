import type { BrowserContext, Page } from 'playwright-core';

/** The tested screen sizes, in CSS pixels. */
export const screens = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

/** The requests of a page, and the errors and warnings of the browser. */
type Noted = { requests: URL[]; errors: string[] };

/** A user of the documentation page, who acts on its visible elements. */
export type Reader = ReturnType<typeof readerOf>;

/** Opens the documentation page of a service, and waits until it shows the document. */
export async function openDocs(context: BrowserContext, url: string): Promise<Reader> {
  const noted: Noted = { requests: [], errors: [] };
  context.on('request', (request) => noted.requests.push(new URL(request.url())));
  context.on('weberror', (error) => noted.errors.push(String(error.error())));
  context.on('console', (message) => {
    // Violations of the Content-Security-Policy are console messages too.
    if (['error', 'warning'].includes(message.type())) noted.errors.push(message.text());
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

    /** Selects the search result with this summary, and waits until the page shows it. */
    choose: async (summary: string) => {
      await page.getByRole('option').filter({ hasText: summary }).first().click();
      await page.getByRole('heading', { name: summary }).waitFor();
    },

    /** Enters an access token. */
    enterToken: (token: string) => page.getByPlaceholder('Token', { exact: true }).first().fill(token),

    /** Opens the form to try an operation. */
    openClient: async (method: string, path: string) => {
      await page.getByRole('button', { name: `Test Request (${method} ${path})` }).click();
      await sendButton.waitFor();
    },

    /** Closes the form. */
    closeClient: async () => {
      await client.getByRole('button', { name: 'Close Client' }).click();
      await client.waitFor({ state: 'hidden' });
    },

    /** Replaces the request body in the form. */
    writeBody: async (body: object) => {
      await client.getByRole('textbox').filter({ hasText: '{' }).click();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.insertText(JSON.stringify(body));
    },

    /** Sends the request, and waits until the page shows a response with this status. */
    send: async (status: string) => {
      await sendButton.click();
      await client.getByText(status).waitFor();
    },

    /** Returns the shown body of the response. */
    shownBody: () => client.getByRole('textbox').filter({ hasText: '"success"' }).innerText(),

    /** Returns the number of pixels by which the content is wider than the screen. */
    overhang: () => page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),

    /** Returns all data that the browser stores for the page. */
    stored: async () => {
      const stored = await page.context().storageState({ indexedDB: true });
      return JSON.stringify([stored, await page.evaluate('Object.values(sessionStorage)')]);
    },
  };
}
