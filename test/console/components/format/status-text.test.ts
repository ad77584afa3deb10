import { expect, it } from 'vitest';
import { statusText } from '../../../../lib/console/components/format/status-text.ts';
import { statuses, statusLabels } from '../../../../lib/console/screens/board/tasks.ts';

it('the words of a status are those of its column', () => {
  const capitalized = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);
  expect(statuses.map((status) => capitalized(statusText(status)))).toEqual(Object.values(statusLabels));
});
