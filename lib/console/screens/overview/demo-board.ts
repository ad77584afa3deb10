import { type Client, CrewboardError } from '../../../client/client.ts';
import type { NewAgent, NewTask } from '../../../client/operations.ts';

const projectId = 'proj_demo';

const agents: readonly NewAgent[] = [
  {
    name: 'demo-writer',
    displayName: 'Demo writer',
    description: 'Writes the texts of the demo board.',
    category: 'development',
    systemPrompt: 'You write texts for a website.\nUse short sentences. Name the reader and the goal first.',
    soul: 'You are friendly and exact.',
    capabilities: ['tasks.read'],
  },
  {
    name: 'demo-reviewer',
    displayName: 'Demo reviewer',
    description: 'Reviews the texts of the demo board.',
    category: 'qa',
    systemPrompt: 'You review texts for a website.\nList what is wrong or unclear, and how to correct it.',
    capabilities: ['tasks.read'],
  },
];

/** A task of the demo board. `after` are the positions of the tasks that must be done first. */
type DemoTask = Omit<NewTask, 'projectId' | 'dependsOn'> & { after?: readonly number[] };

const tasks: readonly DemoTask[] = [
  { title: 'Choose the name of the website', status: 'done', priority: 'high' },
  { title: 'Draw the landing page', status: 'done', priority: 'medium', after: [0] },
  {
    title: 'Write the text of the landing page',
    description:
      '# Goal\n\nA visitor knows after **ten seconds** what the product does.\n\n- one headline\n- three short paragraphs',
    status: 'up_for_review',
    priority: 'high',
    assignedAgent: 'demo-writer',
    after: [0],
  },
  { title: 'Build the landing page', status: 'in_progress', priority: 'critical', after: [1] },
  {
    title: 'Review the text of the landing page',
    status: 'qa_review',
    priority: 'high',
    assignedAgent: 'demo-reviewer',
  },
  { title: 'Write the page about prices', status: 'assigned', priority: 'medium', assignedAgent: 'demo-writer' },
  { title: 'Write the questions and answers', status: 'assigned', priority: 'low', assignedAgent: 'demo-writer' },
  { title: 'Test the website on a phone', status: 'backlog', priority: 'high', after: [3] },
  { title: 'Check all links', status: 'backlog', priority: 'medium', assignedAgent: 'demo-reviewer', after: [3, 5] },
  { title: 'Translate the website', status: 'backlog', priority: 'low', after: [2, 5, 6] },
  { title: 'Announce the website', status: 'backlog', priority: 'medium', after: [7, 8] },
  { title: 'Count the visitors of the first week', status: 'backlog', priority: 'low', after: [10] },
];

/**
 * Creates the agents and the tasks of the demo board. All tasks have the same project, so that a filter shows them. Agents
 * that exist already, because an earlier attempt failed, stay.
 *
 * @returns the number of its tasks and of its agents
 */
export async function loadDemoBoard(client: Client): Promise<{ tasks: number; agents: number }> {
  for (const body of agents)
    await client.createAgent({ body }).catch((error: unknown) => {
      if (!(error instanceof CrewboardError && error.code === 'name_taken')) throw error;
    });
  const ids: string[] = [];
  for (const { after = [], ...task } of tasks) {
    const dependsOn = after.map((at) => ids[at] as string);
    ids.push((await client.createTask({ body: { ...task, projectId, dependsOn } })).data.id);
  }
  return { tasks: tasks.length, agents: agents.length };
}
