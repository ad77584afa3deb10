import { Link } from '@tanstack/react-router';
import type { TaskResult as Result } from '../../../../../client/operations.ts';
import { Judgements } from '../../../../components/judgements.tsx';
import { Markdown } from '../../../../components/markdown/markdown.tsx';
import { RunStatus } from '../../../../components/page.tsx';
import { Ago } from '../../../../components/time.tsx';
import { cutNote } from './cut-note.ts';

/** The result of the newest ended execution on a task: its output, and what the quality gates say of it. */
export function TaskResult({ result }: { result: Result }) {
  const { executionId: id, agentName: agent, status, error, errorReason = error, output } = result;
  const { outputLength, tokensUsed, completedAt } = result;
  const note = cutNote(output, outputLength);
  return (
    <section className="task-result" aria-label="Result">
      <h3>Result</h3>
      <p className="result-facts muted">
        <RunStatus run={result} />
        <Link to="/agents/$name" params={{ name: agent }} className="ellipsis">
          {agent}
        </Link>
        <Ago at={completedAt} />
        {tokensUsed !== undefined && <span>{tokensUsed.toLocaleString('en')} tokens</span>}
        <Link to="/runs/$agent/$id" params={{ agent, id }}>
          Open the run
        </Link>
      </p>
      {output ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll the text
        <section className="result-output" aria-label="Output" tabIndex={0}>
          <Markdown text={output} />
        </section>
      ) : (
        <p className={errorReason === undefined || error === 'cancelled' ? 'muted' : 'failing'}>
          {errorReason ?? 'The run has no output.'}
        </p>
      )}
      {note !== undefined && <p className="muted">{note}</p>}
      {status === 'completed' && <Judgements {...result} />}
    </section>
  );
}
