/** What the documents say of highlights: HTML-escaped but for the tags, at most 200 characters, out of the field, and what is marked was searched for. */
import { holdsTrue } from './difference.js';
import type { ModelRecord } from './reference-list.js';
import { membersOf, wellFormed } from './reference-values.js';
import { wordsOf, type SynonymRule, type WordQuery } from './reference-words.js';

const CHARACTERS_MAX = 200;
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

const unescaped = (html: string) =>
  html.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
const blanksAsOne = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

export function checkHighlights(
  highlights: Readonly<Record<string, string>>,
  record: ModelRecord,
  query: WordQuery | undefined,
  rules: readonly SynonymRule[],
): void {
  for (const [field, html] of Object.entries(highlights)) {
    const parts = html.split(/<(\/?)em>/);
    const tags = parts.filter((_, at) => at % 2 === 1).join(' ');
    holdsTrue('highlight with tags in pairs', /^( \/ ?)*$/.test(tags), () => html);
    const escaped = parts.filter((_, at) => at % 2 === 0);
    holdsTrue('highlight that is escaped', !escaped.some((part) => /[<>]/.test(part)), () => html);
    const text = unescaped(escaped.join(''));
    holdsTrue('highlight of 200 characters', [...text].length <= CHARACTERS_MAX + 4, () => [[...text].length, html]);
    const values = field === 'name' ? [record.name] : membersOf(record.fields.get(field)).map(String);
    const passage = blanksAsOne(text.replaceAll(/^…|…$/g, ''));
    holdsTrue(
      'highlight out of the field',
      values.some((value) => blanksAsOne(wellFormed(value)).includes(passage)),
      () => [html, values],
    );
    if (query === undefined || query.typos || rules.length > 0) continue;
    const marked = parts.filter((_, at) => at % 4 === 2).flatMap((part) => wordsOf(unescaped(part)));
    holdsTrue(
      'marks of what was searched for',
      marked.every((word) => query.words.includes(word)),
      () => [html, query],
    );
  }
}
