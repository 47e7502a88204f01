/**
 * Cuts texts into passages that a model reads whole: at ends of sentences as far as they fit, at words where a sentence is too
 * long, each beginning with the title. What a long title has behind its beginning is text, and a text without another field is cut as it is.
 */
import { VECTORS_PER_RECORD_MAX, type TextToEmbed } from '../vectors/index.js';

/** How many tokens a text is, at most. */
export type TokenCount = (text: string) => number;

/** A longer title leaves no room for the text. */
const TITLE_SHARE_MAX = 1 / 4;
/** One more than a record can have vectors for says that there are more: a book of a million words is not cut to its end to be refused. */
export const PASSAGES_MAX = VECTORS_PER_RECORD_MAX + 1;

type Granularity = 'sentence' | 'word' | 'grapheme';

/** Made when the first text is cut: the rules of the three take 8 ms to read, of every start. */
const segmenters = new Map<Granularity, Intl.Segmenter>();

function segmentsOf(text: string, granularity: Granularity): Intl.Segments {
  const segmenter = segmenters.get(granularity) ?? new Intl.Segmenter(undefined, { granularity });
  segmenters.set(granularity, segmenter);
  return segmenter.segment(text);
}

/** `PASSAGES_MAX` at most: what has so many is not whole. */
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

/** Pieces of the text of at most so many tokens each, whole sentences where these fit. */
function packed(text: string, tokensMax: number, count: TokenCount): string[] {
  const pieces = function* (): Generator<string> {
    for (const { segment } of segmentsOf(text, 'sentence')) {
      if (count(segment) <= tokensMax) yield segment;
      else yield* shorter(segment, tokensMax, count);
    }
  };
  return joined(pieces(), tokensMax, count);
}

/** A sentence by its words, and a word by its characters, where it is longer than a passage. */
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
 * Tokens of a text for a model whose tokenizer is not here, rather too many than too few: a server cuts off, or refuses, what is too
 * long for it.
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
