import { type AgentValues, type EditedField, editedFields, isSame, textOf } from '../agent-fields.ts';
import { Side } from '../side.tsx';

type Props = {
  /** The changes of the user. */
  mine: Partial<AgentValues>;
  /** The agent when the user began. */
  base: AgentValues;
  /** The agent as another user has changed it. */
  theirs: AgentValues;
  keepMine: () => void;
  takeTheirs: () => void;
};

/** Shows both versions of an agent that two users have changed, and lets the user choose. */
export function PromptConflict({ mine, base, theirs, keepMine, takeTheirs }: Props) {
  const own = { ...theirs, ...mine };
  const fields = (Object.keys(editedFields) as EditedField[]).filter(
    (field) => !isSame(field, own, theirs) || !isSame(field, base, theirs),
  );
  return (
    <section className="agent-conflict" aria-labelledby="conflict-title">
      <div role="alert" className="failure">
        <h2 id="conflict-title">Another user has changed the agent</h2>
        <p>
          Your changes are not saved. Compare the versions; if you continue with yours, the next save replaces the
          fields that you changed.
        </p>
      </div>
      {fields.map((field) => {
        const isReplaced = !isSame(field, own, theirs);
        return (
          <div key={field} className="panel conflict-field">
            <h3>
              {editedFields[field]}{' '}
              <span className="muted">
                {isReplaced
                  ? isSame(field, base, theirs)
                    ? 'changed by you'
                    : 'changed by both'
                  : 'changed by another user'}
              </span>
            </h3>
            <div className="sides">
              {isReplaced ? null : <Side title="When you began" text={textOf(base[field])} />}
              <Side title="In the service" text={textOf(theirs[field])} />
              {isReplaced && <Side title="Your version" text={textOf(own[field])} />}
            </div>
          </div>
        );
      })}
      <div className="actions">
        <button type="button" className="primary" onClick={keepMine}>
          Continue with your version
        </button>
        <button type="button" onClick={takeTheirs}>
          Discard your changes
        </button>
      </div>
    </section>
  );
}
