import { Option } from '@commander-js/extra-typings';
import type { ClaimedTask } from '../../../../lib/client/operations.ts';
import { AgentName, ProjectId } from '../../../../lib/contract/shapes.ts';
import { ClaimNote, claimSeconds, WorkerName } from '../../../../lib/contract/tasks/claims.ts';
import { TaskId, taskStatuses } from '../../../../lib/contract/tasks/tasks.ts';
import { readBy, wholeNumber } from '../../command.ts';
import { printJson } from '../../json.ts';
import { singleLine } from '../../printable.ts';
import { apiCommand } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { claimIdOption, exampleTaskId, printStatus } from './task-status.ts';

const exampleClaim = '--claim-id cl_01K00000000000000000000000';

/** `crewboard next`: takes the next ready task. */
export const nextTask = apiCommand(
  'next',
  'Claim the next ready task and show it',
  'next --worker builder-1',
  'next --worker builder-1 --agent builder --lease 3600 --json',
)
  .description(
    'Claim the next ready task and show it. If no task is ready, the exit code is 0 and standard output is empty; with --json, `data` is null.',
  )
  .addOption(workerOption())
  .option('--agent <name>', 'only a task that is assigned to this agent', readBy(AgentName))
  .option('--project <id>', 'only a task of this project', readBy(ProjectId))
  .addOption(leaseOption())
  .action(async ({ worker, agent, project, lease, ...options }, command) => {
    const body = { worker, assignedAgent: agent, projectId: project, leaseSeconds: lease };
    const { data: task } = await connect(options, command).claimNextTask({ body });
    if (task) return printClaimed(task, options);
    if (options.json) return printJson({ data: task });
    console.error('No task is ready.');
  });

/** `crewboard claim`: takes a task. */
export const claim = apiCommand('claim', 'Claim a task and show it', `claim ${exampleTaskId} --worker builder-1`)
  .argument('<task>', 'the id of the task', readBy(TaskId))
  .addOption(workerOption())
  .addOption(leaseOption())
  .addOption(claimIdOption('a claim to renew instead'))
  .action(async (id, { worker, lease, claimId, ...options }, command) => {
    const body = { worker, leaseSeconds: lease, claimId };
    const { data: task } = await connect(options, command).claimTask({ params: { id }, body });
    printClaimed(task, options);
  });

/** `crewboard renew`: keeps a claimed task. */
export const renew = apiCommand(
  'renew',
  'Renew the claim on a task',
  `renew ${exampleTaskId} ${exampleClaim} --note "The header is done."`,
)
  .argument('<task>', 'the id of the task', readBy(TaskId))
  .addOption(claimIdOption().makeOptionMandatory())
  .addOption(leaseOption())
  .addOption(noteOption())
  .action(async (id, { claimId, lease, note, ...options }, command) => {
    const body = { claimId, leaseSeconds: lease, note };
    const { data: task } = await connect(options, command).renewClaim({ params: { id }, body });
    if (options.json) return printJson({ data: task });
    console.log(`${task.id} is claimed until ${task.claim?.expiresAt}: ${singleLine(task.title)}`);
  });

/** `crewboard release`: gives a claimed task back. */
export const release = apiCommand(
  'release',
  'Release a claimed task, with its next status',
  `release ${exampleTaskId} ${exampleClaim} --status up_for_review`,
  `release ${exampleTaskId} ${exampleClaim} --failed --note "The build fails."`,
)
  .argument('<task>', 'the id of the task', readBy(TaskId))
  .addOption(claimIdOption().makeOptionMandatory())
  .addOption(
    new Option('--status <status>', 'the next status (default: the one before the claim)').choices(taskStatuses),
  )
  .addOption(noteOption())
  .option('--failed', 'the work has failed; after three failures in a row the task is stopped')
  .action(async (id, { claimId, status, note, failed, ...options }, command) => {
    const body = { claimId, status, note, failed };
    const { data: task } = await connect(options, command).releaseTask({ params: { id }, body });
    printStatus(task, options);
  });

function workerOption() {
  return new Option('--worker <name>', 'the name of the worker, for people')
    .argParser(readBy(WorkerName))
    .makeOptionMandatory();
}

function leaseOption() {
  const { least, most, usual } = claimSeconds;
  return new Option(
    '--lease <seconds>',
    `how long the claim lasts from now on, ${least} to ${most} seconds (default: ${usual})`,
  ).argParser(wholeNumber(most, least));
}

function noteOption() {
  return new Option('--note <text>', 'what people should know about the work').argParser(readBy(ClaimNote));
}

/** Prints a claimed task: as JSON, or what a worker needs, among it what reviewers have said about earlier work. */
function printClaimed(task: ClaimedTask, options: { json?: true | undefined }): void {
  const rows = [
    ['id', task.id],
    ['title', task.title],
    ['claim', task.claim?.id],
    ['claim until', task.claim?.expiresAt],
    ['description', task.description],
    ['review', task.reviewComments?.map(({ author, text }) => `${singleLine(author.name)}: ${text}`).join('\n')],
  ] as const;
  printDetail(task, rows, options);
}
