import { describe, expect, it } from 'vitest';
import { ApiError } from '../../lib/contract/errors.ts';
import { errorOutputOf, outputBytes, outputOf, type Response } from '../../lib/tools/tool-output.ts';

/** Returns the output of a call, parsed; it must fit. */
function parsed(response: Response): Response & { note?: string } {
  const output = outputOf(response);
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(outputBytes);
  return JSON.parse(output);
}

/** Returns a page of tasks with these texts. */
const pageOf = (count: number, description: string) => ({
  data: Array.from({ length: count }, (_, nth) => ({ id: `tk_${nth}`, title: `Task ${nth}`, description })),
  pagination: { limit: count, offset: 0, total: 1_000 },
});

describe('the output of a call', () => {
  it('keeps the note of the response before that of a cut', () => {
    const { note } = parsed({ data: { description: 'x'.repeat(20_000) }, note: 'Left out: a.' });
    expect(note).toMatch(/^Left out: a\. Texts are cut after \d+ characters\.$/);
    expect(parsed({ ...pageOf(100, '\u0000'.repeat(10_000)), note: 'Left out: a.' }).note).toMatch(
      /^Left out: a\. Texts/,
    );
  });

  it('is the response if it fits, and otherwise has a note', () => {
    const response = { data: { description: '🧭'.repeat(4_000) } };
    expect(outputOf(response)).toBe(JSON.stringify(response));
    const { data, note } = parsed({ data: { description: '🧭'.repeat(5_000) } });
    const { description } = data as { description: string };
    const length = [...description].length - 1;
    expect(description).toBe(`${'🧭'.repeat(length)}…`);
    expect(length).toBeGreaterThan(4_000);
    expect(note).toBe(`Texts are cut after ${length} characters.`);
  });

  it('with long texts has the start of each, and short texts whole', () => {
    const { data, pagination } = parsed(pageOf(20, 'x'.repeat(2_000)));
    expect(data).toHaveLength(20);
    for (const task of data as { title: string; description: string }[]) {
      expect(task.title).toMatch(/^Task \d+$/);
      expect(task.description).toMatch(/^x{500,}…$/);
    }
    expect(pagination).toEqual({ limit: 20, offset: 0, total: 1_000 });
  });

  it('with many entries has the first ones, and says where the next ones begin', () => {
    const { data, note } = parsed(pageOf(100, '\u0000'.repeat(10_000)));
    const { length } = data as unknown[];
    expect(length).toBeGreaterThan(5);
    expect(length).toBeLessThan(100);
    expect(note).toBe(
      `Texts are cut after 200 characters. Only the first ${length} of 100 entries are shown; increase offset by ${length} for the next ones.`,
    );
  });

  it.each([
    [
      'by a cursor says how to read on',
      { limit: 100, next: 'x' },
      /; the next page begins after all of them, so ask again with limit \d+\.$/,
    ],
    ['without pages only says how many there are', undefined, /Only the first \d+ of 100 entries are shown\.$/],
  ])('of a list %s', (_, pagination, note) => {
    const { data } = pageOf(100, 'x'.repeat(1_000));
    expect(parsed({ data, ...(pagination && { pagination }) }).note).toMatch(note);
  });

  it('can be longer for callers that read more', () => {
    const response = pageOf(60, 'x'.repeat(1_000));
    expect(outputOf(response, 64 * 1024)).toBe(JSON.stringify(response));
    expect(Buffer.byteLength(outputOf(pageOf(100, 'x'.repeat(1_000)), 64 * 1024))).toBeLessThanOrEqual(64 * 1024);
  });

  it('that failed is the error of the API, with details if there are any', () => {
    const details = [{ path: 'title', code: 'required', message: 'title is required' } as const];
    const error = { code: 'validation_failed', message: 'title is required.' } as const;
    expect(JSON.parse(errorOutputOf(new ApiError(error.code, error.message)))).toEqual({ error });
    expect(JSON.parse(errorOutputOf(new ApiError(error.code, error.message, details)))).toEqual({
      error: { ...error, details },
    });
  });
});
