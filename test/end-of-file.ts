/** What has to end after the current file. The files of a worker share this module, so each file empties the list. */
const endings: (() => unknown)[] = [];

/**
 * Registers what to do after the last test of the current file, the last registered first. An `afterAll` of a shared module
 * would belong to the first file alone that imports it.
 */
export function atEndOfFile(end: () => unknown): void {
  endings.push(end);
}

/** Does what the current file has registered. Only `clean-up.setup.ts` calls it. */
export async function endFile(): Promise<void> {
  for (const end of endings.splice(0).reverse()) await end();
}
