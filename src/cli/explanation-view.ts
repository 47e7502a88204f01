/** Formats the explanation of a hit's score for a terminal. */
import type { ExplainedHit } from './answers.js';
import { formatCount, printable } from './output.js';

const WORDS_SHOWN = 6;
const LIKE_SHOWN = 3;
const DIGITS = 3;

/** Returns plain text, most important first. */
export function explanationLines({ groups = [], sources = [], meaning: searched, reranker }: ExplainedHit): string[] {
  const words = groups
    .slice(0, WORDS_SHOWN)
    .flatMap(({ word, terms }) => {
      const met = terms.map(({ term, kind }) => (kind === undefined || kind === 'typed' ? term : `${term} (${kind})`));
      return word === undefined || met.join() === word ? met : [`${word} as ${met.join(', ')}`];
    })
    .map(printable);
  const byWords = sources.find(({ kind }) => kind === 'words');
  const meaning = sources.find(({ kind }) => kind === 'meaning');
  const pictures = sources.find(({ kind }) => kind === 'image');
  return [
    ...(words.length === 0 ? [] : [`words${scored(byWords)}: ${words.join(' · ')}`]),
    ...(meaning === undefined ? [] : [`meaning${scored(meaning)}: ${nearness(meaning)}`, ...likeness(searched?.like)]),
    ...(pictures === undefined ? [] : [`pictures${scored(pictures)}: ${nearness(pictures)}`]),
    ...(reranker === undefined ? [] : [`reranker: was number ${formatCount(reranker.place_before + 1)} by score`]),
  ];
}

/** Lists the best hits by words, if the meaning was derived from them. */
function likeness(like: readonly string[] = []): string[] {
  if (like.length === 0) return [];
  return [`close to: ${like.slice(0, LIKE_SHOWN).map(printable).join(', ')}${like.length > LIKE_SHOWN ? ' …' : ''}`];
}

type Source = NonNullable<ExplainedHit['sources']>[number];

function scored(source: Source | undefined): string {
  return source === undefined ? '' : ` ${source.score.toFixed(DIGITS)} × ${Number(source.weight.toFixed(DIGITS))}`;
}

function nearness({ cosine, way, compared }: Source): string {
  const how =
    way === undefined ? '' : `, found by ${way}${compared === undefined ? '' : ` of ${formatCount(compared)}`}`;
  return `cosine ${cosine?.toFixed(DIGITS) ?? 'unknown'}${how}`;
}
