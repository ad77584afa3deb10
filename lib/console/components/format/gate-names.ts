/** The names of the quality gates for people. */
export const gateNames = { selfTest: 'Self-test', qaReview: 'QA review' } as const;
export type Gate = keyof typeof gateNames;

/** The quality gates, in their order. */
export const gates = Object.keys(gateNames) as Gate[];

/** Returns whether a name is that of a quality gate. */
export function isGate(name: string): name is Gate {
  return Object.hasOwn(gateNames, name);
}
