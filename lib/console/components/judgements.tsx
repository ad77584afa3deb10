import type { Execution } from '../../client/operations.ts';
import { gateNames, gates } from './format/gate-names.ts';
import { Markdown } from './markdown/markdown.tsx';
import { Status } from './page.tsx';

/** The result of each quality gate, with the reason of the model that evaluated the output. */
export function Judgements({ qualityGates, gateReasons = {} }: Pick<Execution, 'qualityGates' | 'gateReasons'>) {
  return (
    <div className="gates">
      {gates.map((gate) => {
        const result = qualityGates[gate];
        const reason = withoutVerdict(gateReasons[gate]);
        return (
          <div key={gate} className="panel gate">
            <p className="gate-head">
              <strong>{gateNames[gate]}</strong> <Status value={result} />
            </p>
            {reason === '' ? <p className="muted">{gateTexts[result]}</p> : <Markdown text={reason} />}
          </div>
        );
      })}
    </div>
  );
}

/** Returns a reason without its last line, which is for the service. The result says the same. */
function withoutVerdict(reason = ''): string {
  return reason.replace(/\s*\bVERDICT: (PASS|FAIL)\s*$/, '');
}

/** What is said of a quality gate without a reason, by its result. */
const gateTexts = {
  pending: 'It evaluates the output when the run has one.',
  skipped: 'No model evaluated the output.',
  passed: 'The model gave no reason.',
  failed: 'The model gave no reason.',
} as const satisfies Record<Execution['qualityGates']['selfTest'], string>;
