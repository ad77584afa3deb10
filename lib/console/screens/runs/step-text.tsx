import type { Operations } from '../../../client/operations.ts';
import { indented } from '../../components/format/indented.ts';

/** A step of an execution. */
export type ExecutionStep = Operations['listSteps']['data'][number];

/** A text of a step with its title. JSON has line breaks. */
export function StepText({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h3>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll the text */}
      <pre tabIndex={0}>{indented(text)}</pre>
    </>
  );
}
