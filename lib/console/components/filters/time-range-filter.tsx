import { useId } from 'react';
import { FilterInput } from './filter-input.tsx';
import { fromLocalInput, readyRanges, type TimeRange, timesOf, toLocalInput } from './time-range.ts';

const own = 'own';

/** The ready range that an own range begins as, if there was none. */
const firstOwn = '24h';

type Props = {
  value: TimeRange;
  onChange: (range: TimeRange) => void;
  /** Whether a range without a start is not offered. */
  isRequired?: boolean;
};

/** A filter by time: a ready range, or an own one, which has two more fields. */
export function TimeRangeFilter({ value, onChange, isRequired }: Props) {
  const now = Date.now();
  const isAny = value.since === undefined && value.until === undefined;
  const ready = value.until === undefined && readyRanges.find(({ name }) => name === value.since);
  const isOwn = !isAny && !ready;
  const { since, until } = timesOf(value, now);
  const choose = (chosen: string) => {
    if (chosen === own) onChange(timesOf(isAny ? { since: firstOwn } : value, now));
    else onChange({ since: chosen || undefined });
  };
  return (
    <>
      <select
        aria-label="Time range"
        value={isOwn ? own : (value.since ?? '')}
        onChange={({ target }) => choose(target.value)}
      >
        {!isRequired && <option value="">Any time</option>}
        {readyRanges.map(({ name, label }) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
        <option value={own}>Own range</option>
      </select>
      {isOwn && (
        <>
          <Time
            label="Since"
            value={since}
            required={isRequired}
            max={toLocalInput(until)}
            onChange={(at) => onChange({ since: at, until })}
          />
          <Time
            label="Until"
            value={until}
            min={toLocalInput(since)}
            onChange={(at) => onChange({ since, until: at })}
          />
        </>
      )}
    </>
  );
}

type TimeProps = {
  label: string;
  value: string | undefined;
  min?: string;
  max?: string;
  required?: boolean | undefined;
  onChange: (at: string | undefined) => void;
};

function Time({ label, value, onChange, ...limits }: TimeProps) {
  const id = useId();
  return (
    <div className="time-filter">
      <label htmlFor={id} className="muted">
        {label}
      </label>
      <FilterInput
        id={id}
        type="datetime-local"
        value={toLocalInput(value)}
        onApply={(entered) => onChange(fromLocalInput(entered))}
        {...limits}
      />
    </div>
  );
}
