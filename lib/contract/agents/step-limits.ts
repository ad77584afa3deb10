/** The highest numbers of steps and of tokens that a deployment or an agent can allow its executions. */
export const highestStepLimits = { steps: 200, tokens: 10_000_000 };
