import { dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/adapter/element-adapter';
import { combine } from '@atlaskit/pragmatic-drag-and-drop/utils/combine';
import { autoScrollForElements } from '@atlaskit/pragmatic-drag-and-drop-auto-scroll/element';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { TaskListItem, TaskStatus } from '../../../client/operations.ts';
import { Failure } from '../../components/failure.tsx';
import { Skeleton } from '../../components/page.tsx';
import { Card, isCard } from './card.tsx';
import { type Move, pagesAround, slotsOf } from './slots.ts';
import { type Filters, statusLabels } from './tasks.ts';
import { useColumnPages } from './use-column-pages.ts';
import { useIsCollapsed } from './use-is-collapsed.ts';

/** The height of a card with the gap below it, in pixels: that of `.card` in the style sheet. */
const cardHeight = 112;

type Props = {
  status: TaskStatus;
  filters: Filters;
  moves: readonly Move[];
  /** When the running execution on a task started, by the id of the task. */
  running: ReadonlyMap<string, string>;
  /** The id of the task whose panel is open. */
  opened: string | undefined;
  move: ((task: TaskListItem, to: TaskStatus) => void) | undefined;
  /** Creates a task with the status of the column; absent if the token must not. */
  create: (() => void) | undefined;
};

/** The tasks with a status. Only the cards in view are in the document, and only their pages are read. */
export function Column({ status, filters, moves, running, opened, move, create }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [offsets, setOffsets] = useState<readonly number[]>([0]);
  const { total, pages, error, retry } = useColumnPages(status, filters, offsets);
  const slots = useMemo(() => slotsOf(status, total ?? 0, pages, moves), [status, total, pages, moves]);
  const [isCollapsed, toggle] = useIsCollapsed(status);
  const virtual = useVirtualizer({
    count: isCollapsed ? 0 : slots.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => cardHeight,
    overscan: 4,
    getItemKey: (index) => slots[index]?.id ?? index,
  });
  const items = virtual.getVirtualItems();

  // Reads the pages in view. Requests for pages that have left it in the meantime are aborted.
  const wanted = pagesAround(items[0]?.index ?? 0, items.at(-1)?.index ?? 0);
  const wantedKey = wanted.join();
  useEffect(() => setOffsets(wantedKey.split(',').map(Number)), [wantedKey]);

  const isOver = useDropTarget(scroller, status, move !== undefined);

  // Shows a card that arrives, wherever it is in the column, or that of the open panel, whose neighbours are then read.
  const shown = moves.findLast(({ to }) => to === status)?.task.id ?? opened;
  useEffect(() => {
    const at = shown === undefined ? -1 : slots.findIndex((one) => one?.id === shown);
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
  }, [shown, slots, virtual]);

  // Beside the panel there is no room for all columns. The router has restored their place before the next frame.
  const isOpened = useMemo(() => opened !== undefined && slots.some((one) => one?.id === opened), [opened, slots]);
  useEffect(() => {
    if (!isOpened) return;
    const frame = requestAnimationFrame(() =>
      scroller.current?.parentElement?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    );
    return () => cancelAnimationFrame(frame);
  }, [isOpened]);

  const label = statusLabels[status];
  const isEmpty = total === 0 && slots.length === 0;
  return (
    <section
      className={`column${isOver ? ' over' : ''}${isEmpty ? ' empty-column' : ''}${isCollapsed ? ' collapsed' : ''}`}
      aria-label={label}
      data-status={status}
    >
      <div className="column-head">
        <h2>
          <button
            type="button"
            className="quiet column-name"
            aria-expanded={!isCollapsed}
            title={isCollapsed ? 'Expand the column' : 'Collapse the column'}
            onClick={toggle}
          >
            <span className={`dot dot-${status}`} aria-hidden="true" />
            <span className="ellipsis">{label}</span>{' '}
            <span className="count">{total === undefined ? '' : slots.length.toLocaleString('en')}</span>
          </button>
        </h2>
        {create && !isCollapsed && (
          <button type="button" className="quiet column-add" aria-label={`Create a task in ${label}`} onClick={create}>
            +
          </button>
        )}
      </div>
      <div ref={scroller} className="column-cards" tabIndex={-1} hidden={isCollapsed}>
        {error !== null && <Failure error={error} retry={retry} />}
        {total === undefined && error === null && <Skeleton rows={3} />}
        {isEmpty && <p className="column-empty">No tasks</p>}
        <ul style={{ height: virtual.getTotalSize() }}>
          {items.map(({ key, index, start }) => {
            const task = slots[index];
            return (
              <li
                key={key}
                aria-setsize={slots.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
              >
                {task ? <Card task={task} runningSince={running.get(task.id)} move={move} /> : <div className="card" />}
              </li>
            );
          })}
        </ul>
      </div>
    </section>
  );
}

/** Makes a column the target of dragged cards, which scrolls when a card is near its edge. Returns whether one is over it. */
function useDropTarget(ref: { current: HTMLElement | null }, status: TaskStatus, isEnabled: boolean): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const scroller = ref.current;
    const column = scroller?.parentElement;
    if (!scroller || !column || !isEnabled) return;
    return combine(
      dropTargetForElements({
        element: column,
        canDrop: ({ source }) => isCard(source.data),
        getData: () => ({ status }),
        onDragEnter: () => setOver(true),
        onDragLeave: () => setOver(false),
        onDrop: () => setOver(false),
      }),
      autoScrollForElements({ element: scroller, canScroll: ({ source }) => isCard(source.data) }),
    );
  }, [ref, status, isEnabled]);
  return isOver;
}
