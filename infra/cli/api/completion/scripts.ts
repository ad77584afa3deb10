import type { Place } from './places.ts';

/**
 * Returns the script that completes a program in bash.
 *
 * @param name the name of the program
 */
export function bashScript(name: string, places: readonly Place[]): string {
  return `# Completes ${name} in bash.
_${name}() {
  local place='' count=0 skip='' word options='' words='' at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
${walk(places)}
  done
  # The value of an option that has no known values: nothing.
  [[ -n $skip ]] && case "$place \${COMP_WORDS[COMP_CWORD - 1]}" in
${casesOf(choicesOfOptions(places), (choices) => `words='${choices.join(' ')}'`, 4)}
  esac
  [[ -z $skip ]] && case "$place" in
${casesOf(
  places.map(({ path, commands, options }) => [
    path,
    { commands: commands.map((one) => one.name), options: options.map((one) => one.name) },
  ]),
  ({ commands, options }) => `words='${commands.join(' ')}' options='${options.join(' ')}'`,
  4,
)}
  esac
  [[ -z $skip ]] && case "$place $count" in
${casesOf(choicesOfArguments(places), (choices) => `words='${choices.join(' ')}'`, 4)}
  esac
  word=\${COMP_WORDS[COMP_CWORD]}
  [[ $word == -* ]] && words=$options
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _${name} ${name}
`;
}

/**
 * Returns the script that completes a program in zsh, with what each word means. It works in a file of `fpath` and with `eval`.
 *
 * @param name the name of the program
 */
export function zshScript(name: string, places: readonly Place[]): string {
  const described = (words: readonly { name: string; description: string }[]) =>
    words.map((word) => quoted(`${word.name}:${word.description}`)).join(' ');
  return `#compdef ${name}
# Completes ${name} in zsh.
_${name}() {
  local place='' count=0 skip='' word
  local -a found options values
  for word in "\${(@)words[2,CURRENT-1]}"; do
${walk(places)}
  done
  if [[ -n $skip ]]; then
    case "$place $words[CURRENT-1]" in
${casesOf(choicesOfOptions(places), (choices) => `values=(${choices.join(' ')})`, 6)}
    esac
    # The value of an option that has no known values: nothing.
    compadd -a values
    return
  fi
  case "$place" in
${casesOf(
  places.map(({ path, commands, options }) => [path, { commands, options }]),
  ({ commands, options }) => `found=(${described(commands)}) options=(${described(options)})`,
  4,
)}
  esac
  case "$place $count" in
${casesOf(choicesOfArguments(places), (choices) => `values=(${choices.join(' ')})`, 4)}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    _describe option options
  else
    (( $#found )) && _describe command found
    compadd -a values
  fi
}
if [[ $funcstack[1] == _${name} ]]; then
  _${name} "$@"
else
  compdef _${name} ${name}
fi
`;
}

/**
 * Returns the lines, for both shells, that take a word of the command line: `place` is the command so far, `count` the number of
 * its arguments, and `skip` is set if the next word is the value of an option.
 */
function walk(places: readonly Place[]): string {
  const commands = places.slice(1).map(({ path }) => path);
  const withValue = places.flatMap(({ path, options }) =>
    options.filter(({ takesValue }) => takesValue).map((option) => `${path} ${option.name}`),
  );
  return `    if [[ -n $skip ]]; then skip=''; continue; fi
    case "$place $word" in
      ${patternOf(commands)}) place="$place $word" count=0 ;;
      ${patternOf(withValue)}) skip=1 ;;
      *) [[ $word == -* ]] || count=$((count + 1)) ;;
    esac`;
}

/** Texts that a script looks up, each with its value. */
type Table<Value> = readonly (readonly [text: string, value: Value])[];

function choicesOfOptions(places: readonly Place[]): Table<readonly string[]> {
  return places.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ name, choices }) => [`${path} ${name}`, choices] as const),
  );
}

function choicesOfArguments(places: readonly Place[]): Table<readonly string[]> {
  return places.flatMap(({ path, args }) =>
    args.flatMap((choices, at) => (choices.length > 0 ? [[`${path} ${at}`, choices] as const] : [])),
  );
}

/** Returns the cases of a table, one for all texts with the same line. */
function casesOf<Value>(table: Table<Value>, lineOf: (value: Value) => string, indent: number): string {
  const lines = Map.groupBy(table, ([, value]) => lineOf(value));
  return [...lines]
    .map(([line, rows]) => `${' '.repeat(indent)}${patternOf(rows.map(([text]) => text))}) ${line} ;;`)
    .join('\n');
}

const patternOf = (texts: readonly string[]) => texts.map(quoted).join('|');

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
