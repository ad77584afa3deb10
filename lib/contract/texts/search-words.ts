/**
 * Returns the words of a text: sequences of letters and digits, normalized for comparison. They are in upper case,
 * because lower case has two forms of sigma and keeps ß different from ss.
 */
function wordsOf(text: string): string[] {
  const folded = text.normalize('NFKC').toUpperCase().normalize('NFKC');
  return folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** The characters of the scripts that have no spaces between words. */
const unspaced = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]`;

/** A place where a word can begin: beside such a character, but not before a mark that belongs to the character in front of it. */
const wordStart = new RegExp(`(?:(?<=${unspaced})|(?=${unspaced}))(?!\\p{M})`, 'uy');

/** Returns whether a sequence of letters and digits has a word that begins with a prefix. */
function hasWord(letters: string, prefix: string): boolean {
  for (let at = letters.indexOf(prefix); at >= 0; at = letters.indexOf(prefix, at + 1)) {
    wordStart.lastIndex = at;
    if (at === 0 || wordStart.test(letters)) return true;
  }
  return false;
}

/**
 * Returns a function that checks whether a text matches a search: each word of the search is the start of a word of the
 * text. In scripts without spaces, each character can begin a word. Returns `undefined` for a search without words, which
 * matches no text.
 */
export function searching(search: string): ((text: string) => boolean) | undefined {
  const prefixes = wordsOf(search);
  if (prefixes.length === 0) return undefined;
  return (text) => {
    const words = wordsOf(text);
    return prefixes.every((prefix) => words.some((word) => hasWord(word, prefix)));
  };
}
