/** The sections of all prompts. Their tags tell a model where a text of somebody else begins and ends. */
const sectionNames = [
  ...(['delegated-by', 'task', 'dependency-result', 'review-comment', 'context', 'input', 'work'] as const),
  ...(['prompt', 'executions', 'focus', 'answer-1', 'answer-2'] as const),
];

/** The name of a section. */
export type SectionName = (typeof sectionNames)[number];

/**
 * Characters that are not visible: controls, formats, surrogates without their other half, and characters that Unicode
 * lets programs ignore, such as selectors of variants and fillers; and the blank pattern of Braille.
 */
const invisible = '\\p{Cc}\\p{Cf}\\p{Cs}\\p{DI}\\u{2800}';

/**
 * What follows the `<` of a tag of a section, opening or closing, with or without attributes. A model also reads a tag with
 * other letter case, with white space, or with invisible characters in it.
 */
const restOfTag = () =>
  `(?=[\\s${invisible}/]*(?:${sectionNames.map((name) => [...name].join(`[${invisible}]*`)).join('|')})(?![\\w-]))`;

// Created at the first use: the classes of Unicode characters take a tenth of the CPU time of an import.
let startOfTag: RegExp | undefined;
let escapedStart: RegExp | undefined;

/** Returns the pattern of the `<` of a tag of a section, also if it is escaped already. */
function startPattern(): RegExp {
  startOfTag ??= new RegExp(`(?:<|&(?:amp;)*lt;)${restOfTag()}`, 'giu');
  return startOfTag;
}

/** Returns the pattern of an escaped `<` of a tag of a section, with its escapes. */
function escapedPattern(): RegExp {
  escapedStart ??= new RegExp(`&((?:amp;)*)(lt;)${restOfTag()}`, 'giu');
  return escapedStart;
}

/**
 * Returns a section of a prompt. Tags of sections in the text are escaped, so that it can neither end its section nor begin
 * another. All other text stays as it is, also other tags.
 */
export function section(name: SectionName, text: string): string {
  const escaped = text.replace(startPattern(), (found) => (found === '<' ? '&lt;' : `&amp;${found.slice(1)}`));
  return `<${name}>\n${escaped}\n</${name}>`;
}

/** Returns a text of a section as it was before `section` escaped its tags. */
export function unescaped(text: string): string {
  return text.replace(escapedPattern(), (_, amps: string, end: string) =>
    amps === '' ? '<' : `&${amps.slice('amp;'.length)}${end}`,
  );
}
