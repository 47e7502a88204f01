/**
 * Builds the group of a `phrase` search: the words as typed, and their variants by synonyms and spellings, up to a
 * limit.
 */
import type { Alternative, QueryGroup } from '../plan/plan-nodes.js';
import { PHRASE_VARIANT_TERMS_MAX, PHRASE_VARIANTS_MAX } from './expansion-weights.js';
import type { QueryWord } from './query-words.js';
import type { Span } from './spans.js';

const SEPARATOR = '\u0000';

/** A part of the phrase in one of its forms. */
interface Piece {
  readonly end: number;
  readonly alternative: Alternative;
}

export function phraseGroup(words: readonly QueryWord[], spans: readonly Span[]): QueryGroup {
  const terms = words.map(({ term }) => term);
  const found = new Map<string, Alternative>();
  let room = PHRASE_VARIANT_TERMS_MAX;
  for (const variant of variants(terms, piecesByBegin(terms, spans))) {
    const key = variant.terms.join(SEPARATOR);
    if (found.has(key)) continue;
    // The phrase as typed comes first and is always kept.
    room -= variant.terms.length;
    if (found.size > 0 && room < 0) break;
    found.set(key, Object.freeze({ ...variant, terms: Object.freeze(variant.terms) }));
    if (found.size >= PHRASE_VARIANTS_MAX) break;
  }
  return Object.freeze({
    occur: 'must',
    boost: 1,
    alternatives: Object.freeze([...found.values()]),
  });
}

function piecesByBegin(terms: readonly string[], spans: readonly Span[]): readonly (readonly Piece[])[] {
  const pieces = terms.map((term, begin): Piece[] => [
    { end: begin + 1, alternative: { kind: 'typed', weight: 1, terms: [term] } },
  ]);
  for (const { begin, end, variants: forms } of spans) {
    for (const form of forms) pieces[begin]?.push({ end, alternative: form });
  }
  return pieces;
}

/**
 * Yields the variants with the fewest replaced parts first, so that the limit drops the farthest. A variant is extended
 * only after its last replaced part, so none is produced twice.
 */
function* variants(terms: readonly string[], pieces: readonly (readonly Piece[])[]): Generator<Alternative> {
  const replaceable = pieces.flatMap((forms, begin) => forms.slice(1).map((form) => ({ begin, ...form })));
  let round: { readonly alternative: Alternative; readonly tail: number }[] = [
    { alternative: { kind: 'typed', weight: 1, terms: [] }, tail: 0 },
  ];
  yield { kind: 'typed', weight: 1, terms };
  for (let produced = 1; round.length > 0 && produced < PHRASE_VARIANTS_MAX * 2;) {
    const extended: typeof round = [];
    for (const { alternative: head, tail } of round) {
      for (const { begin, end, alternative } of replaceable) {
        if (begin < tail || extended.length >= PHRASE_VARIANTS_MAX) continue;
        const kept = [...head.terms, ...terms.slice(tail, begin), ...alternative.terms];
        const joined: Alternative = {
          kind: head.kind === 'synonym' ? 'synonym' : alternative.kind,
          weight: head.weight * alternative.weight,
          terms: kept,
        };
        extended.push({ alternative: joined, tail: end });
        produced += 1;
        yield { ...joined, terms: [...kept, ...terms.slice(end)] };
      }
    }
    round = extended;
  }
}
