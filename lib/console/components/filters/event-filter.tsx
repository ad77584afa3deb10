import { type EventName, eventNames } from '../../../client/operations.ts';

/** A filter by the name of an event. */
export function EventFilter(props: { value: EventName | undefined; onChange: (event: EventName | undefined) => void }) {
  return (
    <select
      aria-label="Event"
      value={props.value ?? ''}
      onChange={({ target }) => props.onChange((target.value || undefined) as EventName | undefined)}
    >
      <option value="">All events</option>
      {eventNames.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
