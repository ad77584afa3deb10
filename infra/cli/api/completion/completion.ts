import { Argument, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { apiGroup } from '../api-command.ts';
import { placesOf } from './places.ts';
import { bashScript, zshScript } from './scripts.ts';

/** The scripts by their shells. */
const scripts = { bash: bashScript, zsh: zshScript } as const;

/** `crewboard completion`: prints the script by which a shell completes the words of a command line. */
export const completion = apiGroup(
  'completion',
  'Print the script that completes commands and options in bash or zsh',
  'completion bash',
  'completion zsh',
)
  .description(
    [
      'Print the script that completes the commands and options of crewboard in bash or zsh. For bash, write it to a file in',
      '~/.local/share/bash-completion/completions; for zsh, to the file _crewboard in a folder of $fpath.',
    ].join(' '),
  )
  .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh'] as const))
  .action((shell, _, command) => {
    const program = rootOf(command);
    process.stdout.write(scripts[shell](program.name(), placesOf(program)));
  });

function rootOf(command: CommandUnknownOpts): CommandUnknownOpts {
  return command.parent ? rootOf(command.parent) : command;
}
