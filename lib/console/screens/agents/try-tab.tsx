import { useMutation } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import type { Agent, Execution } from '../../../client/operations.ts';
import { MissingScopes } from '../../components/dialogs/missing-scope.tsx';
import { Failure } from '../../components/failure.tsx';
import { durationText } from '../../components/format/time-text.ts';
import { tokensText } from '../../components/format/tokens-text.ts';
import { RunStatus, Skeleton } from '../../components/page.tsx';
import { useKnownNow } from '../../components/time.tsx';
import { useClient, useScope } from '../../session.ts';
import { useExecution } from './agent-queries.ts';
import { contextOf, textOfContext } from './context-text.ts';
import { Field } from './editor/field.tsx';

/** The input that the form proposes. */
export const exampleInput = 'Say in one sentence what you can do.';

/** Runs the agent with an input, and shows the result as soon as there is one. `from` in the URL names an earlier run to change. */
export function TryTab({ agent: { name, status } }: { agent: Agent }) {
  const { from } = useSearch({ from: '/agents/$name' });
  const canExecute = useScope('agents:execute');
  const earlier = useExecution(name, from);
  if (!canExecute) return <MissingScopes scopes={['agents:execute']} />;
  if (status !== 'active')
    return <p className="muted">Only an active agent can run. This one is {status}; change its status in Prompt.</p>;
  if (earlier.isError) return <Failure error={earlier.error} retry={() => void earlier.refetch()} />;
  if (from !== undefined && !earlier.data) return <Skeleton rows={3} />;
  return <TryForm key={from} name={name} earlier={earlier.data} />;
}

function TryForm({ name, earlier }: { name: string; earlier: Execution | undefined }) {
  const client = useClient();
  const [input, setInput] = useState(earlier?.input ?? '');
  const [context, setContext] = useState(textOfContext(earlier?.context));
  const [problem, setProblem] = useState<string>();
  const [isOnTask, setOnTask] = useState(earlier?.taskId !== undefined);
  const start = useMutation({
    mutationFn: (read: ReturnType<typeof contextOf>) => {
      const onTask = isOnTask && earlier?.taskId && { taskId: earlier.taskId };
      const body = { input, ...onTask, ...('context' in read && { context: read.context }) };
      return client.executeAgent({ params: { name }, body });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const read = contextOf(context);
    setProblem(read.problem);
    if (read.problem === undefined) start.mutate(read);
    else event.currentTarget.querySelector<HTMLTextAreaElement>('[name=context]')?.focus();
  };
  return (
    <div className="try">
      <form className="form" onSubmit={submit}>
        <label className="field">
          <span>Input</span>
          <textarea
            rows={5}
            required
            maxLength={100_000}
            placeholder={exampleInput}
            value={input}
            onChange={({ target }) => setInput(target.value)}
            onKeyDown={submitByKey}
          />
        </label>
        <Field label="Context as a JSON object (optional)" problem={problem}>
          {(described) => (
            <textarea
              {...described}
              name="context"
              className="mono"
              rows={context === '' ? 2 : 6}
              spellCheck={false}
              value={context}
              onChange={({ target }) => {
                setContext(target.value);
                setProblem(undefined);
              }}
              onKeyDown={submitByKey}
            />
          )}
        </Field>
        {earlier?.taskId && (
          <div className="checks">
            <label>
              <input type="checkbox" checked={isOnTask} onChange={({ target }) => setOnTask(target.checked)} />
              <span>
                On the task <code>{earlier.taskId}</code> again
              </span>
            </label>
          </div>
        )}
        <div className="actions">
          <button type="submit" className="primary" disabled={start.isPending}>
            {start.isPending ? 'Starting…' : 'Run'}
          </button>
          <span className="muted">Ctrl+Enter runs as well. A run uses tokens of the model.</span>
        </div>
        {start.isError && <Failure error={start.error} />}
      </form>
      {start.data && <Result key={start.data.data.executionId} name={name} id={start.data.data.executionId} />}
    </div>
  );
}

/** Submits the form of a text area by Ctrl+Enter. */
function submitByKey(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
}

function Result({ name, id }: { name: string; id: string }) {
  const execution = useExecution(name, id);
  if (execution.isPending) return <Skeleton rows={3} />;
  if (execution.isError) return <Failure error={execution.error} retry={() => void execution.refetch()} />;
  const { status, output, error, errorReason = error } = execution.data;
  const tokens = tokensText(execution.data);
  return (
    <section className="panel result" aria-label="Result">
      <div className="result-head">
        <RunStatus run={execution.data} />
        <span className="muted">
          <Duration execution={execution.data} />
          {tokens !== undefined && ` · ${tokens} tokens`}
        </span>
        <Link to="/runs/$agent/$id" params={{ agent: name, id }}>
          Open the run
        </Link>
      </div>
      <div aria-live="polite">
        {output !== undefined && <pre>{output}</pre>}
        {errorReason !== undefined && (
          <pre className={error === 'cancelled' ? undefined : 'failing'}>{errorReason}</pre>
        )}
        {status === 'running' && <p className="muted">The agent works. The result appears here.</p>}
      </div>
    </section>
  );
}

/** The duration of an execution; while it runs, until now. */
function Duration({ execution: { durationMs, startedAt } }: { execution: Execution }) {
  const now = useKnownNow();
  return durationText(durationMs ?? Math.max(0, Math.floor((now - Date.parse(startedAt)) / 1000) * 1000));
}
