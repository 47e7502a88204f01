/**
 * Numbers as some write them: with what parts thousands in the list's language (`1,000`, `1.000`, `1 000`) and without, and versions with a `v` and
 * without. Each by itself: what the dictionary lacks is no alternative.
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
  /** Parts of a whole number of so many digits, first to last. */
  readonly partsOf: (digits: string) => readonly string[];
  /** Between the parts; undefined where it is a blank, which parts words. */
  readonly mark: string | undefined;
}

/** From here on something is parted; more digits than these are no amount but an identifier. */
const DIGITS_MIN = 4;
const DIGITS_MAX = 18;
const WHOLE_NUMBER = /^[1-9][0-9]*$/;
const FIRST_DIGITS = /^[1-9][0-9]{0,2}$/;
const MORE_DIGITS = /^[0-9]{2,3}$/;
const VERSION = /^(v?)([0-9]+(?:\.[0-9]+)+)$/;
const DEFAULT_LANGUAGE = 'en';

const groupings = new Map<string, Grouping>();

/** `language`: BCP 47 primary tag, or `none`. */
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

/** `1,000` is 1000 only where thousands are parted so: in German it is one. */
function wholeOf(term: string, { partsOf, mark }: Grouping): readonly string[] | undefined {
  if (mark === undefined || !term.includes(mark)) return undefined;
  const digits = term.replaceAll(mark, '');
  return isParted(digits) && partsOf(digits).join(mark) === term ? [digits] : undefined;
}

/** Words that blanks part and that are one number together; the longest. */
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
  // Also where people part thousands from 10,000 on only, as in Spanish.
  const format = new Intl.NumberFormat(`${language}-u-nu-latn`, { useGrouping: 'always', maximumFractionDigits: 0 });
  const mark = format.formatToParts(10_000).find(({ type }) => type === 'group')?.value ?? '';
  return {
    partsOf: (digits) =>
      format
        .formatToParts(BigInt(digits))
        .filter(({ type }) => type === 'integer')
        .map(({ value }) => value),
    // The apostrophe as words have it once they are folded.
    mark: /^\s*$/.test(mark) ? undefined : mark.replace('\u2019', "'"),
  };
}
