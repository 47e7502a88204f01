/**
 * Cuts texts into passages that a model reads whole: at sentence ends as far as they fit, and at words in sentences
 * that are too long. Each passage begins with the title. The part of a title that does not fit is treated as text, and
 * a text without title is cut as it is.
 */
import { VECTORS_PER_RECORD_MAX, type TextToEmbed } from '../vectors/index.js';

/** Returns an upper bound on the number of tokens of a text. */
export type TokenCount = (text: string) => number;

/** Limits the title's share, to leave room for the text. */
const TITLE_SHARE_MAX = 1 / 4;
/**
 * One more than a record may have vectors, which shows that there are more: a book of a million words is not cut to its
 * end only to be refused.
 */
export const PASSAGES_MAX = VECTORS_PER_RECORD_MAX + 1;

type Granularity = 'sentence' | 'word' | 'grapheme';

/** Created on first use: loading the rules of all three takes 8 ms of every start. */
const segmenters = new Map<Granularity, Intl.Segmenter>();

function segmentsOf(text: string, granularity: Granularity): Intl.Segments {
  const segmenter = segmenters.get(granularity) ?? new Intl.Segmenter(undefined, { granularity });
  segmenters.set(granularity, segmenter);
  return segmenter.segment(text);
}

/** Returns at most `PASSAGES_MAX` passages; with that many, the text is incomplete. */
export function cutPassages({ title, text }: TextToEmbed, tokensMax: number, count: TokenCount): readonly string[] {
  const whole = [title.trim(), text.trim()].filter((part) => part !== '').join('\n');
  if (whole === '') return [];
  if (count(whole) <= tokensMax) return [whole];
  if (title.trim() === '' || text.trim() === '') return packed(whole, tokensMax, count).slice(0, PASSAGES_MAX);
  const [head = ''] = packed(title.trim(), Math.max(1, Math.floor(tokensMax * TITLE_SHARE_MAX)), count);
  const prefix = `${head}\n`;
  const room = Math.max(1, tokensMax - count(prefix));
  const rest = whole.slice(head.length).trim();
  return packed(rest, room, count)
    .slice(0, PASSAGES_MAX)
    .map((passage) => prefix + passage);
}

/** Returns pieces of at most so many tokens each, consisting of whole sentences where these fit. */
function packed(text: string, tokensMax: number, count: TokenCount): string[] {
  const pieces = function* (): Generator<string> {
    for (const { segment } of segmentsOf(text, 'sentence')) {
      if (count(segment) <= tokensMax) yield segment;
      else yield* shorter(segment, tokensMax, count);
    }
  };
  return joined(pieces(), tokensMax, count);
}

/** Splits a sentence into words, and a word longer than a passage into characters. */
function* shorter(sentence: string, tokensMax: number, count: TokenCount): Generator<string> {
  for (const { segment } of segmentsOf(sentence, 'word')) {
    if (count(segment) <= tokensMax) yield segment;
    else for (const { segment: character } of segmentsOf(segment, 'grapheme')) yield character;
  }
}

function joined(pieces: Iterable<string>, tokensMax: number, count: TokenCount): string[] {
  const passages: string[] = [];
  let open = '';
  let tokens = 0;
  const close = () => {
    if (open.trim() !== '') passages.push(open.trim());
    open = '';
    tokens = 0;
  };
  for (const piece of pieces) {
    const more = count(piece);
    if (tokens + more > tokensMax) close();
    if (passages.length >= PASSAGES_MAX) break;
    open += piece;
    tokens += more;
  }
  close();
  return passages;
}

const RUNS = /[a-z]+|[0-9]+|[^\S\r\n]+|[\s\S]/giu;
const LETTERS_A_TOKEN = 4;
const DIGITS_A_TOKEN = 2;

/**
 * Estimates the tokens of a text for a model whose tokenizer is not available. Rather too many than too few, since a
 * server truncates or refuses texts that are too long.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [run] of text.matchAll(RUNS)) {
    if (/^\s/u.test(run)) continue;
    if (/^[a-z]/i.test(run)) tokens += Math.ceil(run.length / LETTERS_A_TOKEN);
    else if (/^[0-9]/.test(run)) tokens += Math.ceil(run.length / DIGITS_A_TOKEN);
    else tokens += run.length > 1 ? 2 : 1;
  }
  return tokens;
}
