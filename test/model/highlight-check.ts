/**
 * Checks highlights against the documentation: HTML-escaped except for the tags, at most 200 characters, the best
 * passage of the field, and only words that were searched for are marked.
 */
import { holdsTrue } from './difference.js';
import type { ModelRecord, ReferenceList } from './reference-list.js';
import { membersOf, wellFormed } from './reference-values.js';
import { editsAllowed, editsBetween, wordsOf, type SynonymRule, type WordQuery } from './reference-words.js';

const CHARACTERS_MAX = 200;
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

export const unescaped = (html: string) =>
  html.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
const blanksAsOne = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Checks the highlights of a hit of the list. */
export function checkHighlights(
  highlights: Readonly<Record<string, string>>,
  record: ModelRecord,
  query: WordQuery | undefined,
  list: ReferenceList,
  searchFields: readonly string[] = list.definition.searchable,
): void {
  const searched = query && list.ruled(query).query;
  for (const [field, html] of Object.entries(highlights)) {
    const parts = html.split(/<(\/?)em>/);
    const tags = parts.filter((_, at) => at % 2 === 1).join(' ');
    holdsTrue('highlight with tags in pairs', /^( \/ ?)*$/.test(tags), () => html);
    const escaped = parts.filter((_, at) => at % 2 === 0);
    holdsTrue('highlight that is escaped', !escaped.some((part) => /[<>]/.test(part)), () => html);
    const text = unescaped(escaped.join(''));
    holdsTrue('highlight of 200 characters', [...text].length <= CHARACTERS_MAX + 4, () => [[...text].length, html]);
    const passage = blanksAsOne(text.replaceAll(/^…|…$/g, ''));
    holdsTrue(
      'highlight out of the field',
      valuesOf(record, field).some((value) => blanksAsOne(wellFormed(value)).includes(passage)),
      () => [html, valuesOf(record, field)],
    );
    const marked = parts.filter((_, at) => at % 4 === 2).flatMap((part) => wordsOf(unescaped(part)));
    const strange = marked.filter((word) => searched === undefined || !mayBeMarked(word, searched, list.rules));
    holdsTrue('marks of what was searched for', strange.length === 0, () => [html, searched, strange]);
  }
  if (searched === undefined || searched.typos || list.rules.length > 0) return;
  for (const field of list.definition.searchable.filter((name) => searchFields.includes(name)))
    checkMarks(highlights[field], valuesOf(record, field), searched);
}

function valuesOf(record: ModelRecord, field: string): string[] {
  return field === 'name' ? [record.name] : membersOf(record.fields.get(field)).map(String);
}

/** True if the word is in the query, is a typo away from a word of it, or is in a synonym rule. */
function mayBeMarked(word: string, { words, typos }: WordQuery, rules: readonly SynonymRule[]): boolean {
  if (words.some((each) => each === word || (typos && editsBetween(each, word) <= editsAllowed(each)))) return true;
  return rules.some(({ terms, replace_with: others = [] }) =>
    [...terms, ...others].some((term) => term.split(' ').includes(word)),
  );
}

/**
 * Checks that a field is highlighted exactly if it matches, that every query word in the passage is marked, and that
 * the passage has as many of the words as fit.
 */
function checkMarks(html: string | undefined, values: readonly string[], { words, match }: WordQuery): void {
  const isPhrase = match === 'phrase';
  const found = values.map((value) => {
    const own = wordsOf(value);
    const isFound = isPhrase
      ? own.some((_, start) => words.every((word, at) => own[start + at] === word))
      : words.some((word) => own.includes(word));
    return { value, isFound: isFound && words.length > 0, distinct: words.filter((word) => own.includes(word)).length };
  });
  holdsTrue('field that is marked', (html !== undefined) === found.some(({ isFound }) => isFound), () => [
    html,
    values,
  ]);
  if (html === undefined || isPhrase) return;
  const parts = html.split(/<\/?em>/).map(unescaped);
  const besides = parts.filter((_, at) => at % 2 === 0).flatMap(wordsOf);
  holdsTrue('words that are not marked', !besides.some((word) => words.includes(word)), () => [html, words]);
  const marked = new Set(parts.filter((_, at) => at % 2 === 1).flatMap(wordsOf));
  const distinct = words.filter((word) => marked.has(word)).length;
  const short = found.filter(({ value }) => [...value].length <= CHARACTERS_MAX);
  const isBest = short.every((each) => each.distinct <= distinct);
  holdsTrue('passage with most of the words', isBest, () => [html, words, short]);
}
