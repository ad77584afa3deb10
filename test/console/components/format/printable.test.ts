import { expect, it } from 'vitest';
import { printable } from '../../../../lib/console/components/format/printable.ts';

it('control characters and changes of direction become visible, and other text stays', () => {
  expect(printable('a\x1b[31m\x00b\x7f\x9b\u202ec')).toBe('a\ufffd[31m\ufffdb\ufffd\ufffd\ufffdc');
  expect(printable('Grüße 👩‍🚀\r\n\tb\rc')).toBe('Grüße 👩‍🚀\n\tb\nc');
});
