import { fc } from '../seeded.ts';

/** Any text, lone surrogates and control characters included. */
export const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
});
