import * as v from 'valibot';
import { described, oneOf } from './shapes.ts';

/** Who can change something: a caller with a token, an agent in an execution, or the service by itself. */
const actorKinds = ['token', 'agent', 'person', 'service'] as const;

/** Who has made a change. */
export const Actor = v.object({
  kind: described(
    oneOf(actorKinds),
    '`token`: a program with an access token. `person`: a person, whose access token was created as one of a person. `agent`: an agent in one of its executions. `service`: the service by itself.',
  ),
  name: described(v.string(), 'The name of the access token, or its id if it has none; the name of the agent.'),
  id: v.optional(described(v.string(), 'The id of the access token or of the agent.')),
  executionId: v.optional(
    described(v.string(), 'The execution in which an agent has made the change, or which the change has started.'),
  ),
});
export type Actor = v.InferOutput<typeof Actor>;

/** The service by itself: it ends claims that are over, and starts agents. */
export const theService: Actor = { kind: 'service', name: 'Crewboard' };
