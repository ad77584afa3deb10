/** The name of the built-in simulator of the local service. */
export const simulatorName = 'simulator';

let otherName: string | undefined;

/**
 * Sets the name of the model that answers all questions of this process; `undefined` if the model of a question answers.
 */
export function setAnsweringModel(name: string | undefined): void {
  otherName = name;
}

/** Returns the name of the model that answers questions to a model. */
export function answeringModel(model: string): string {
  return otherName ?? model;
}

/** Returns whether the built-in simulator answers, which is no model and costs nothing. */
export function isSimulated(): boolean {
  return otherName === simulatorName;
}
