import type { Execution } from '../../../client/operations.ts';
import { gateNames, isGate } from '../../components/format/gate-names.ts';
import { durationText } from '../../components/format/time-text.ts';
import { useKnownNow } from '../../components/time.tsx';
import { StepMessages } from './step-messages.tsx';
import { type ExecutionStep, StepText } from './step-text.tsx';
import { waitsOf } from './step-waits.ts';

/** The steps of an execution on its time axis. Each opens to its input and its output. */
export function Waterfall({ execution, steps }: { execution: Execution; steps: readonly ExecutionStep[] }) {
  const now = useKnownNow();
  const start = Date.parse(execution.startedAt);
  const end = execution.completedAt ? Date.parse(execution.completedAt) : Math.max(now, start);
  const isRunning = execution.status === 'running';
  const waits = waitsOf(steps, start);
  if (steps.length === 0)
    return (
      <p className="panel no-steps muted">
        {isRunning ? 'No step is stored yet. The run waits for a worker or for its model.' : 'The run has no steps.'}
      </p>
    );
  return (
    <div className="panel waterfall">
      <div className="axis muted" aria-hidden="true">
        <span />
        <span className="axis-times">
          <span>0</span>
          <span>{durationText(Math.round((end - start) / 2))}</span>
          <span>{durationText(end - start)}</span>
        </span>
        <span className="number">Tokens</span>
        <span className="number">Time</span>
      </div>
      <ol>
        {steps.map((step, at) => (
          <Step
            key={step.number}
            execution={execution}
            step={step}
            waitMs={waits[at] as number}
            start={start}
            end={end}
            isRunning={isRunning && step.durationMs === undefined}
          />
        ))}
      </ol>
    </div>
  );
}

/** Returns whether a step has failed. One that was under way when its execution was cancelled has not. */
function hasFailed({ error }: ExecutionStep): boolean {
  return error !== undefined && error !== 'cancelled';
}

/** Returns the name of a step for people: that of its model or tool, or that of its quality gate. */
function nameOf({ kind, name }: ExecutionStep): string {
  return kind === 'gate' && isGate(name) ? gateNames[name] : name;
}

type StepProps = BarProps & { execution: Execution };

type BarProps = {
  step: ExecutionStep;
  /** How long the run waited before the step, in milliseconds. */
  waitMs: number;
  /** The start and the end of the execution, in Unix time. */
  start: number;
  end: number;
  /** A step that a cancelled execution left has no duration, but it does not run. */
  isRunning: boolean;
};

function Step({ execution, step, waitMs, start, end, isRunning }: StepProps) {
  const { number, kind, name, input, output, truncated, error, tokensUsed, durationMs } = step;
  const isFailed = hasFailed(step);
  return (
    <li>
      <details className="step">
        <summary>
          <span className="step-name">
            <span className="muted step-number">{number}</span>
            <span className={`kind kind-${kind}`}>{kind}</span>
            <span className="ellipsis" title={name}>
              {nameOf(step)}
            </span>
          </span>
          <Bar step={step} waitMs={waitMs} start={start} end={end} isRunning={isRunning} />
          <span className="step-tokens">{tokensUsed?.toLocaleString('en')}</span>
          <span className="step-time">
            {error === 'cancelled' && <span className="muted">cancelled</span>}
            {isFailed && <span className="failing">failed</span>}
            {isRunning && <span className="busy">running</span>}
            {durationMs !== undefined && durationText(durationMs)}
          </span>
        </summary>
        <div className="step-content">
          {truncated && <p className="muted">Only the start of the texts of this step is stored.</p>}
          {error !== undefined && <p className={isFailed ? 'failing' : 'muted'}>{error}</p>}
          {input !== undefined && <StepText title="Input" text={input} />}
          {output !== undefined && <StepText title="Output" text={output} />}
          {input === undefined && output === undefined && error === undefined && (
            <p className="muted">The step has no input and no output.</p>
          )}
          {kind !== 'tool' && <StepMessages execution={execution} step={step} />}
          {waitMs > 0 && <p className="muted">The run waited {durationText(waitMs)} before this step.</p>}
        </div>
      </details>
    </li>
  );
}

/** The bar of a step, after that of the wait before it. Offsets and widths are fractions of the duration of the execution. */
function Bar({ step, waitMs, start, end, isRunning }: BarProps) {
  const { kind, startedAt, durationMs } = step;
  // Without a start, the step is one of an earlier version of the service.
  if (startedAt === undefined) return <span className="track" aria-hidden="true" />;
  const total = Math.max(1, end - start);
  const from = Date.parse(startedAt);
  const offset = clamp((from - start) / total);
  const width = clamp((durationMs ?? end - from) / total, 1 - offset);
  const wait = clamp(waitMs / total, offset);
  return (
    <span className="track" aria-hidden="true">
      <span
        className="bar bar-wait"
        style={{ left: `${(offset - wait) * 100}%`, width: `${wait * 100}%` }}
        title={`Waited ${durationText(waitMs)}`}
      />
      <span
        className={`bar bar-${hasFailed(step) ? 'failed' : kind}${isRunning ? ' bar-running' : ''}`}
        style={{ left: `min(${offset * 100}%, 100% - 3px)`, width: `${width * 100}%` }}
      />
    </span>
  );
}

/** Limits a fraction to the range from 0. The clocks of the service and of the browser can differ. */
function clamp(fraction: number, highest = 1): number {
  return Math.min(Math.max(fraction, 0), highest);
}
