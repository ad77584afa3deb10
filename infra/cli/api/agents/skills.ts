import type { AssignedSkill, Skill } from '../../../../lib/client/operations.ts';
import { SkillId } from '../../../../lib/contract/agents/skills.ts';
import { AgentName } from '../../../../lib/contract/shapes.ts';
import { readBy } from '../../command.ts';
import { printJson } from '../../json.ts';
import { apiCommand, apiGroup } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printList, type Shape } from '../pages.ts';

const skillShape: Shape<Skill> = {
  columns: { id: ({ id }) => id, description: ({ description }) => description },
  flexible: 'description',
};

const assignedShape: Shape<AssignedSkill> = {
  columns: {
    id: ({ id }) => id,
    assigned: ({ assignedAt }) => assignedAt,
    description: ({ description }) => description,
  },
  flexible: 'description',
};

const list = apiCommand(
  'list',
  'List the skills that agents can have, or those of an agent',
  'skills list',
  'skills list --agent builder --json',
)
  .option('--agent <name>', 'only the skills that are assigned to this agent', readBy(AgentName))
  .action(async ({ agent: name, ...options }, command) => {
    const client = connect(options, command);
    if (name === undefined) return printList((await client.listSkillCatalogue()).data, 'skill', skillShape, options);
    const { data } = await client.listSkills({ params: { name } });
    printList(data, 'skill', assignedShape, options);
  });

const assign = apiCommand('assign', 'Assign a skill to an agent', 'skills assign builder sk_code-review')
  .argument('<agent>', 'the name of the agent', readBy(AgentName))
  .argument('<skill>', 'the id of the skill, as skills list lists it', readBy(SkillId))
  .action(async (name, skillId, options, command) => {
    await connect(options, command).assignSkill({ params: { name }, body: { skillId } });
    if (options.json) return printJson({ data: { name, skillId } });
    console.log(`${name} has the skill ${skillId}.`);
  });

const unassign = apiCommand('unassign', 'Remove a skill from an agent', 'skills unassign builder sk_code-review')
  .argument('<agent>', 'the name of the agent', readBy(AgentName))
  .argument('<skill>', 'the id of the skill', readBy(SkillId))
  .action(async (name, skillId, options, command) => {
    await connect(options, command).unassignSkill({ params: { name, skillId } });
    if (options.json) return printJson({ data: { name, skillId } });
    console.log(`${name} does not have the skill ${skillId}.`);
  });

/** `crewboard skills`: the skills of the deployment, and of its agents. */
export const skills = apiGroup('skills', 'List skills, and assign them to agents', 'skills list')
  .addCommand(list)
  .addCommand(assign)
  .addCommand(unassign);
