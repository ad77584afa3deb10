/** A word that the project no longer uses, in prose and as a part of an identifier, and what it uses instead. */
type RetiredWord = {
  /** The word, lower case; a regular expression without flags. */
  word: string;
  use: string;
  /** Texts that contain the word and stay: names that are stored or public, and other senses of the word. */
  except?: RegExp;
};

const retiredWords: readonly RetiredWord[] = [
  { word: 'lanes?', use: 'shard, queue or partition' },
  { word: 'epochs?', use: 'period', except: /timeEpoch|Unix epoch/ },
  { word: 'cells?', use: 'facet' },
  { word: 'standings?', use: 'list membership' },
  { word: 'refusals?', use: 'error', except: /\brefusal( is|:|,| \?)|["'`][Rr]efusal\w*["'`]/ },
  { word: 'twins?', use: 'duplicate' },
  { word: 'hears?|heard|hearing', use: 'subscribed, subscribers or receives' },
  { word: 'told|tells', use: 'sends, reports or says' },
  { word: 'nobody|whoever', use: 'who it is' },
  { word: 'wake-?ups?|woken|wakes', use: 'message, or sends a message', except: /\bwoken\b/ },
  { word: 'ladders?', use: 'retry schedule', except: /RETRY_LADDER|retryLadder/ },
  { word: 'given up|gives up|in hand|hands? in', use: 'the term of the field' },
  { word: 'seals?|sealed|sealing|unseals?', use: 'encrypt', except: /\bsealed\b|'seals'|\bseals:/ },
  { word: 'stand-?ins?', use: 'stub or placeholder' },
  { word: 'recounts?', use: 'reconcile', except: /["'`]recount["'`]|'recount |(--silent|npm run|main\.ts) recount/ },
  { word: 'collaborators?|surroundings', use: 'context' },
  { word: 'stale', use: 'conflict, or out of date', except: /staleTime/ },
  {
    word: 'meets?',
    use: 'finds, or conflicts with',
    except: /meets? \w+ (acceptance criteri|condition|limit|deadline)/,
  },
  { word: 'content with|so many|as long as|otherwise than|comes? to|came to', use: 'a plain phrase' },
];

/** The pattern of a retired word: whole words, and whole parts of identifiers in camel case. */
function patternOf(word: string): RegExp {
  const capital = `(?:${word.replace(/(^|\|)([a-z])/g, (_, bar: string, letter: string) => bar + letter.toUpperCase())})`;
  return new RegExp(`(?<![A-Za-z])(?:${word})(?![a-z])|(?<![A-Z])${capital}(?![a-z])`);
}

const patterns = retiredWords.map(({ word, use, except }) => ({
  pattern: patternOf(word),
  use,
  except: except && new RegExp(except, 'g'),
}));

/**
 * Finds retired words in a file, such as `lib/a.ts:3: "lane" is retired; use shard, queue or partition.`
 *
 * @param file the path that findings name
 */
export function retiredWordsIn(file: string, text: string): string[] {
  return text.split('\n').flatMap((line, at) =>
    patterns.flatMap(({ pattern, use, except }) => {
      const found = pattern.exec(except ? line.replaceAll(except, '') : line);
      return found ? [`${file}:${at + 1}: "${found[0]}" is retired; use ${use}.`] : [];
    }),
  );
}
