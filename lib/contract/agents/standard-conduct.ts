/** How an agent works on its tasks without being asked, and the values of an agent that says nothing of it. */
export const standardConduct = {
  autoRun: false,
  maxRunning: 1,
  autoRetry: 0,
  autoAccept: false,
  dependencyResults: true,
} as const;

/** The highest numbers of an agent that starts by itself. */
export const highestConduct = { maxRunning: 50, autoRetry: 3 };
