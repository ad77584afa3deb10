import { useQueryClient } from '@tanstack/react-query';
import { useTaskWithResult } from '../../../components/hooks/one-task.ts';
import { useHasDraft } from '../../../components/hooks/use-draft.ts';
import { useKey } from '../../../keys/use-key.ts';
import { useScope } from '../../../session.ts';
import { cachedTask } from '../cached-tasks.ts';
import type { Selection } from '../selection/selection.ts';
import { taskDraft } from '../task/edit-task.tsx';
import type { Filters, SeenTask } from '../tasks.ts';
import type { ChosenField } from './choose-dialog.tsx';
import { cardBeside } from './use-arrow-keys.ts';

/** What a value of a field is chosen for: the task of a card, that of the panel, or the selected ones. */
export type ChosenBy = 'card' | 'panel' | 'selection';

type Options = {
  filters: Filters;
  /** The id of the task whose panel is open, and of the one that is being edited. */
  opened: string | undefined;
  edited: string | undefined;
  selection: Selection;
  /** Asks for a value of a field of tasks. */
  choose: (field: ChosenField, tasks: readonly SeenTask[], by: ChosenBy) => void;
  edit: (id: string) => void;
};

/**
 * Lets keys change and select the task of the focused card, and change that of the open panel, unless it is being edited. If the card
 * is one of several that are selected, the keys change all of them.
 */
export function useTaskKeys({ filters, opened = '', edited, selection, choose, edit }: Options): void {
  const queries = useQueryClient();
  const canReadAgents = useScope('agents:read');
  const { queryKey } = useTaskWithResult(opened);
  const hasDraft = useHasDraft(taskDraft(opened));
  const { selected } = selection;

  const taskOf = (target: Element): SeenTask | undefined => {
    const card = target.closest<HTMLElement>('[data-card]');
    if (card) return cachedTask(queries, filters, card.dataset.card ?? '') ?? selected.get(card.dataset.card ?? '');
    return hasDraft || edited === opened ? undefined : queries.getQueryData(queryKey)?.data;
  };
  const chooseFor = (field: ChosenField) => (_: KeyboardEvent, target: Element) => {
    const task = taskOf(target);
    if (!task) return;
    const isOnCard = target.closest('[data-card]') !== null;
    if (isOnCard && selected.has(task.id)) choose(field, [...selected.values()], 'selection');
    else choose(field, [task], isOnCard ? 'card' : 'panel');
  };
  useKey('changeStatus', true, chooseFor('status'));
  useKey('changePriority', true, chooseFor('priority'));
  useKey('assign', canReadAgents, chooseFor('assignedAgent'));
  useKey('edit', true, (_, target) => {
    const task = taskOf(target);
    if (task) edit(task.id);
  });

  const listItemOf = (card: Element | null | undefined) =>
    cachedTask(queries, filters, card?.closest<HTMLElement>('[data-card]')?.dataset.card ?? '');
  useKey('select', true, (_, target) => {
    const task = listItemOf(target);
    if (task) selection.toggle(task);
  });
  useKey('selectTo', true, ({ key }, target) => {
    const next = key.startsWith('Arrow') ? cardBeside(target, key) : target;
    const [from, to] = [listItemOf(target), listItemOf(next)];
    if (!from || !to) return;
    if (next !== target) selection.begin(from);
    if (next instanceof HTMLElement && next !== target) next.focus();
    selection.selectTo(to);
  });
  useKey('clearSelection', selected.size > 0 && opened === '', selection.clear);
}
