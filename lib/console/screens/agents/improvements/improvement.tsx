import { Link } from '@tanstack/react-router';
import type {
  ImprovementDecision,
  ImprovementPass,
  ImprovementProposal,
  ImprovementTrial,
} from '../../../../client/operations.ts';
import { durationText } from '../../../components/format/time-text.ts';
import { Ago } from '../../../components/time.tsx';
import { Side } from '../side.tsx';
import { WordDiff } from '../word-diff.tsx';

/** What each decision means. */
const decisions: Readonly<Record<ImprovementDecision, string>> = {
  adopted: 'Adopted',
  not_better: 'Not better',
  worse: 'Worse',
  no_proposal: 'No proposal',
  not_usable: 'Not usable',
  not_tried: 'Not tried',
  not_judged: 'Not judged',
  superseded: 'Superseded',
};

/** A self-improvement pass: its decision, its votes, the proposal, and the answers of both prompts to each input. */
export function Improvement({ agent, pass, isOpen }: { agent: string; pass: ImprovementPass; isOpen: boolean }) {
  const { decision, improved, changesSummary, startedAt, durationMs, tokensUsed, proposal, votes, chance, trials } =
    pass;
  return (
    <details className="panel improvement" open={isOpen}>
      <summary>
        <span className={improved ? 'status status-done' : 'status'}>{decisions[decision]}</span>
        <span className="ellipsis improvement-summary">{changesSummary}</span>
        <span className="muted">
          <Ago at={startedAt} />
        </span>
      </summary>
      <div className="improvement-body">
        <p>{changesSummary}</p>
        <dl className="facts">
          <dt>Votes</dt>
          <dd>
            {votes.new} for the new prompt, {votes.previous} for the previous one, {votes.none} for none
          </dd>
          {chance !== undefined && (
            <>
              <dt>Chance</dt>
              <dd>{chance} that an edit without an effect gets these votes; it is adopted below 0.02</dd>
            </>
          )}
          <dt>Cost</dt>
          <dd>
            {tokensUsed.toLocaleString('en')} tokens, {durationText(durationMs)}
          </dd>
        </dl>
        {proposal && <Proposal proposal={proposal} />}
        {trials.length > 0 && (
          <section>
            <h2>Answers</h2>
            <ol className="trials">
              {trials.map((trial) => (
                <li key={trial.executionId}>
                  <Trial agent={agent} trial={trial} />
                </li>
              ))}
            </ol>
          </section>
        )}
      </div>
    </details>
  );
}

function Proposal({
  proposal: { summary, append, replace, with: replacement, truncated },
}: {
  proposal: ImprovementProposal;
}) {
  return (
    <section>
      <h2>Proposal</h2>
      <p>{summary}</p>
      <WordDiff from={replace ?? ''} to={replacement ?? append ?? ''} />
      {truncated && <Truncated />}
    </section>
  );
}

function Trial({ agent, trial }: { agent: string; trial: ImprovementTrial }) {
  const { executionId, heldOut, input, previousAnswer, newAnswer, previousError, newError, votes, truncated } = trial;
  return (
    <details className="trial">
      <summary>
        <span className="ellipsis">{input}</span>
        <span className="muted">{votes.length === 0 ? 'Not compared' : `Votes: ${votes.join(', ')}`}</span>
      </summary>
      <p className="muted">
        <Link to="/runs/$agent/$id" params={{ agent, id: executionId }}>
          The run of this input
        </Link>
        {heldOut && ' · The improver did not see this input.'}
      </p>
      <pre>{input}</pre>
      <div className="sides">
        <Side
          title="Previous prompt"
          text={previousAnswer ?? previousError ?? ''}
          isBad={previousError !== undefined}
        />
        <Side title="New prompt" text={newAnswer ?? newError ?? ''} isBad={newError !== undefined} />
      </div>
      {truncated && <Truncated />}
    </details>
  );
}

function Truncated() {
  return <p className="muted">Longer texts are cut after 2,000 characters.</p>;
}
