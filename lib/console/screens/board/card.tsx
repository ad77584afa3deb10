import { draggable } from '@atlaskit/pragmatic-drag-and-drop/adapter/element-adapter';
import { memo, useEffect, useRef, useState } from 'react';
import type { TaskListItem, TaskStatus } from '../../../client/operations.ts';
import { ActionMenu } from '../../components/action-menu.tsx';
import { AgentBadge } from '../../components/agent-badge.tsx';
import { durationText } from '../../components/format/time-text.ts';
import { useKnownNow } from '../../components/time.tsx';
import { SelectBox, useCardSelection } from './selection/card-selection.tsx';
import { TaskLink } from './task-link.tsx';
import { projectName, statuses, statusLabels } from './tasks.ts';

/** Says that a dragged element is a card of the board, and not a selected text or a link. */
const cardKey = Symbol('card');

/** The data of a dragged card. */
export type CardData = { [cardKey]: true; task: TaskListItem };

/** Returns whether the data of a dragged element is that of a card. */
export function isCard(data: Record<string | symbol, unknown>): data is CardData {
  return data[cardKey] === true;
}

type Props = {
  task: TaskListItem;
  /** When the running execution on the task started. */
  runningSince: string | undefined;
  /** Moves the task by the menu; absent if the token must not. */
  move: ((task: TaskListItem, to: TaskStatus) => void) | undefined;
};

/** A task on the board. It is rendered only if it changes, because a column is rendered at each step of a scroll. */
export const Card = memo(function Card({ task, runningSince, move }: Props) {
  const { id, title, status, priority, assignedAgent, projectId, blockedBy = [], claim, stopped } = task;
  const ref = useRef<HTMLDivElement>(null);
  const [isDragged, setDragged] = useState(false);
  useEffect(() => {
    if (!ref.current || !move) return;
    return draggable({
      element: ref.current,
      getInitialData: (): CardData => ({ [cardKey]: true, task }),
      onDragStart: () => setDragged(true),
      onDrop: () => setDragged(false),
    });
  }, [task, move]);
  const { attributes, actions } = useCardSelection(task);
  return (
    <div ref={ref} data-card={id} className={isDragged ? 'card dragged' : 'card'} {...attributes}>
      <SelectBox task={task} />
      <div className="card-head">
        <TaskLink id={id} title={title} />
        {move && (
          <ActionMenu
            label={`Move “${title}” to…`}
            actions={[
              ...actions,
              ...statuses
                .filter((to) => to !== status)
                .map((to) => ({ label: `Move to ${statusLabels[to]}`, run: () => move(task, to) })),
            ]}
          >
            ⋯
          </ActionMenu>
        )}
      </div>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard uses the link, which the facts with an explanation cover */}
      <p className="card-facts" onClick={() => ref.current?.querySelector('a')?.click()}>
        <span className={`priority priority-${priority}`} title={`Priority: ${priority}`}>
          <span className="visually-hidden">priority {priority}</span>
        </span>
        {claim && (
          <span className="claimed ellipsis" title={`Claimed by ${claim.worker}`}>
            <span className="visually-hidden">claimed by </span>
            {claim.worker}
          </span>
        )}
        {stopped && (
          <span className="stopped" title={`No worker gets the task. ${stopped.reason}`}>
            stopped
          </span>
        )}
        {blockedBy.length > 0 && status !== 'done' && (
          <span
            className="blocked ellipsis"
            title={`Must be done first: ${blockedBy.map((one) => one.title).join(', ')}`}
          >
            blocked by {blockedBy.length}
          </span>
        )}
        {runningSince && status === 'in_progress' && <Running since={runningSince} />}
        {projectId && (
          <span className="card-project ellipsis" title={`Project ${projectId}`}>
            <span className="visually-hidden">project </span>
            {projectName(projectId)}
          </span>
        )}
        {assignedAgent && <AgentBadge name={assignedAgent} />}
      </p>
    </div>
  );
});

/** How long an execution has been running. */
function Running({ since }: { since: string }) {
  const now = useKnownNow();
  return <span className="running">{durationText(Math.max(now - Date.parse(since), 0))}</span>;
}
