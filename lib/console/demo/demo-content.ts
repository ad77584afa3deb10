import type { NewAgent, NewTask } from '../../client/operations.ts';

/** The agents of the demo board. The first one needs the right to run agents, because it delegates. */
export const demoAgents = [
  {
    name: 'demo-lead',
    displayName: 'Demo lead',
    description: 'Splits the large tasks of the demo board.',
    category: 'business',
    systemPrompt:
      'You lead the launch of a website.\nCreate a task for each part of your work, and delegate the parts of others. End with a short report.',
    soul: 'You are calm, and never promise more than the plan has.',
    capabilities: ['tasks.read', 'tasks.write', 'delegate'],
  },
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
] as const satisfies readonly (NewAgent & { description: string })[];

/** Returns whether the demo board has made an agent: it has the name and the description of one of its agents. */
export function isDemoAgent({ name, description }: { name: string; description?: string | undefined }): boolean {
  return demoAgents.some((one) => one.name === name && one.description === description);
}

/** A run of the agent of a task, and the review after it. */
type DemoRun = { input: string; review?: { decision: 'accept' | 'send_back'; comment: string } };

/**
 * A task of the demo board. `after` are the positions of the tasks that must be done first. `status` is its status if no agent
 * runs on it.
 */
type DemoTask = Omit<NewTask, 'projectId' | 'dependsOn'> & { after?: readonly number[]; runs?: readonly DemoRun[] };

/** The tasks of the demo board, in the order in which they are created and run. */
export const demoTasks: readonly DemoTask[] = [
  { title: 'Choose the name of the website', status: 'done', priority: 'high' },
  { title: 'Draw the landing page', status: 'done', priority: 'medium', after: [0] },
  {
    title: 'Write the text of the landing page',
    description:
      '# Goal\n\nA visitor knows after **ten seconds** what the product does.\n\n- [x] one headline\n- [ ] three short paragraphs',
    status: 'up_for_review',
    priority: 'high',
    assignedAgent: 'demo-writer',
    after: [0],
    runs: [{ input: 'Write the text of the landing page. Begin with the headline.' }],
  },
  { title: 'Build the landing page', status: 'in_progress', priority: 'critical', after: [1] },
  {
    title: 'Review the text of the landing page',
    status: 'qa_review',
    priority: 'high',
    assignedAgent: 'demo-reviewer',
    runs: [
      {
        input: 'Review the headline and the paragraphs of the landing page.',
        review: { decision: 'accept', comment: 'Clear. The headline can stay as it is.' },
      },
    ],
  },
  {
    title: 'Write the page about prices',
    status: 'assigned',
    priority: 'medium',
    assignedAgent: 'demo-writer',
    runs: [
      {
        input: 'Write the page about prices.',
        review: {
          decision: 'send_back',
          comment: 'The price of a **year** is missing. Name it beside that of a month.',
        },
      },
      { input: 'Write the page about prices again, with the price of a year.' },
    ],
  },
  {
    title: 'Write the questions and answers',
    status: 'assigned',
    priority: 'low',
    assignedAgent: 'demo-writer',
    runs: [
      {
        input: 'Write the five questions that visitors ask first, with their answers.',
        review: { decision: 'send_back', comment: 'Two of the questions are the same. Replace one of them.' },
      },
    ],
  },
  { title: 'Write the imprint', status: 'assigned', priority: 'low', assignedAgent: 'demo-writer' },
  { title: 'Test the website on a phone', status: 'backlog', priority: 'high', after: [3] },
  { title: 'Check all links', status: 'backlog', priority: 'medium', assignedAgent: 'demo-reviewer', after: [3, 5] },
  { title: 'Translate the website', status: 'backlog', priority: 'low', after: [2, 5, 6] },
  { title: 'Announce the website', status: 'backlog', priority: 'medium', after: [8, 9] },
  { title: 'Count the visitors of the first week', status: 'backlog', priority: 'low', after: [11] },
  {
    title: 'Prepare the launch',
    status: 'assigned',
    priority: 'critical',
    assignedAgent: 'demo-lead',
    runs: [
      {
        input:
          'Look at the board, then split the task into “Write the newsletter of the launch” and “Plan the day of the launch”. Delegate “Write the newsletter of the launch” to demo-writer, and do the other part yourself.',
      },
    ],
  },
];
