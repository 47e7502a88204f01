/**
 * Other ways to write numbers: with the thousands separator of the list's language (`1,000`, `1.000`, `1 000`) or
 * without, and versions with a `v` or without. Candidates only: the caller drops what the dictionary lacks.
 */
import type { QueryWord } from './query-words.js';

/** Terms that may stand for the words `begin` to `end` (exclusive) of a query. */
export interface OtherWriting {
  readonly begin: number;
  readonly end: number;
  /** At consecutive positions. */
  readonly terms: readonly string[];
}

interface Grouping {
  /** Splits the digits of a whole number into groups, from first to last. */
  readonly partsOf: (digits: string) => readonly string[];
  /** Separator between groups. Undefined if it is a blank, which separates words. */
  readonly mark: string | undefined;
}

/** Shorter numbers have no separator; longer ones are identifiers, not amounts. */
const DIGITS_MIN = 4;
const DIGITS_MAX = 18;
const WHOLE_NUMBER = /^[1-9][0-9]*$/;
const FIRST_DIGITS = /^[1-9][0-9]{0,2}$/;
const MORE_DIGITS = /^[0-9]{2,3}$/;
const VERSION = /^(v?)([0-9]+(?:\.[0-9]+)+)$/;
const DEFAULT_LANGUAGE = 'en';

const groupings = new Map<string, Grouping>();

/** Returns the other ways to write each number. `language` is a BCP 47 primary tag, or `none`. */
export function numberWritings(words: readonly QueryWord[], language: string): readonly OtherWriting[] {
  let grouping: Grouping | undefined;
  return words.flatMap(({ term }, begin) => {
    if (!/[0-9]/.test(term)) return [];
    grouping ??= groupingOf(language);
    const alone = [versionOf(term), partedOf(term, grouping), wholeOf(term, grouping)].filter(
      (terms) => terms !== undefined,
    );
    const together = grouping.mark === undefined ? togetherFrom(words, begin, grouping) : [];
    return [...alone.map((terms) => ({ begin, end: begin + 1, terms })), ...together];
  });
}

function versionOf(term: string): readonly string[] | undefined {
  const [, letter, numbers = ''] = VERSION.exec(term) ?? [];
  if (letter === undefined) return undefined;
  return [letter === '' ? `v${numbers}` : numbers];
}

function partedOf(term: string, { partsOf, mark }: Grouping): readonly string[] | undefined {
  if (!isParted(term)) return undefined;
  const parts = partsOf(term);
  return mark === undefined ? parts : [parts.join(mark)];
}

/** `1,000` is 1000 only where commas separate thousands: in German it is one. */
function wholeOf(term: string, { partsOf, mark }: Grouping): readonly string[] | undefined {
  if (mark === undefined || !term.includes(mark)) return undefined;
  const digits = term.replaceAll(mark, '');
  return isParted(digits) && partsOf(digits).join(mark) === term ? [digits] : undefined;
}

/** Returns the longest run of words that are one number with blanks between its groups. */
function togetherFrom(words: readonly QueryWord[], begin: number, { partsOf }: Grouping): readonly OtherWriting[] {
  if (!FIRST_DIGITS.test(words[begin]?.term ?? '')) return [];
  let end = begin + 1;
  while (words[end - 1]?.joint === 'blank' && MORE_DIGITS.test(words[end]?.term ?? '')) end += 1;
  const typed = words.slice(begin, end).map(({ term }) => term);
  const digits = typed.join('');
  if (!isParted(digits) || partsOf(digits).join(' ') !== typed.join(' ')) return [];
  return [{ begin, end, terms: [digits] }];
}

function isParted(term: string): boolean {
  return term.length >= DIGITS_MIN && term.length <= DIGITS_MAX && WHOLE_NUMBER.test(term);
}

function groupingOf(language: string): Grouping {
  const known = groupings.get(language);
  if (known !== undefined) return known;
  const grouping = newGrouping(language === 'none' ? DEFAULT_LANGUAGE : language);
  groupings.set(language, grouping);
  return grouping;
}

function newGrouping(language: string): Grouping {
  // Forces grouping even in languages such as Spanish, which group only from 10,000 on.
  const format = new Intl.NumberFormat(`${language}-u-nu-latn`, { useGrouping: 'always', maximumFractionDigits: 0 });
  const mark = format.formatToParts(10_000).find(({ type }) => type === 'group')?.value ?? '';
  return {
    partsOf: (digits) =>
      format
        .formatToParts(BigInt(digits))
        .filter(({ type }) => type === 'integer')
        .map(({ value }) => value),
    // Folded words have the ASCII apostrophe.
    mark: /^\s*$/.test(mark) ? undefined : mark.replace('\u2019', "'"),
  };
}
