/** Extracts from HTML the text that a reader sees, in lines. */
import { OPEN_ELEMENTS_MAX, parseInSlices, writeBounded } from './bounded-parsing.js';
import { cutText } from './cut-text.js';
import { Parser } from 'htmlparser2';
import type { Slices } from './slices.js';

/**
 * How many characters of the HTML are looked at for each character of text that is wanted. The rest of them is markup
 * or white space.
 */
const LOOKED_AT_TIMES = 10;

const HIDDEN = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'math',
  'iframe',
  'object',
  'head',
  'title',
  'select',
]);
const BLOCKS = new Set(
  'address article aside blockquote br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
);

export function isHidden(tag: string): boolean {
  return HIDDEN.has(tag);
}

export function isBlock(tag: string): boolean {
  return BLOCKS.has(tag);
}

/**
 * Returns at most `charactersMax` characters of text, cut between two characters, from the first ten times as many
 * characters of HTML. Plain text is returned unchanged except for its white space.
 */
export function htmlToText(html: string, charactersMax: number): string {
  const text = html.slice(0, LOOKED_AT_TIMES * charactersMax);
  if (isPlain(text)) return cutText(tidied(text), charactersMax);
  const reading = new TextReading(charactersMax);
  const parser = new Parser(reading);
  writeBounded(parser, text, () => reading.isBeyondBounds);
  // Otherwise the parser would return an unfinished tag or character reference as text.
  if (text.length === html.length) parser.end();
  return reading.text();
}

/** Does the same for a long text, all of which is looked at. */
export async function htmlToTextInSlices(html: string, charactersMax: number, slices: Slices): Promise<string> {
  if (isPlain(html)) return htmlToText(html, charactersMax);
  const reading = new TextReading(charactersMax);
  await parseInSlices(new Parser(reading), html, () => reading.isBeyondBounds, { slices });
  return reading.text();
}

/** Most titles and names contain neither of these characters. */
function isPlain(text: string): boolean {
  return !/[<&]/.test(text);
}

class TextReading {
  private readonly pieces: string[] = [];
  private characters = 0;
  private hidden = 0;
  private open = 0;

  constructor(private readonly charactersMax: number) {}

  get isBeyondBounds(): boolean {
    return this.open > OPEN_ELEMENTS_MAX || this.characters > this.charactersMax;
  }

  text(): string {
    return cutText(tidied(this.pieces.join('')), this.charactersMax);
  }

  onopentagname(tag: string): void {
    this.open += 1;
    if (isHidden(tag)) this.hidden += 1;
    this.edge(tag);
  }

  ontext(text: string): void {
    if (this.hidden > 0 || this.characters > this.charactersMax) return;
    this.pieces.push(text);
    this.characters += text.length;
  }

  onclosetag(tag: string): void {
    this.open -= 1;
    if (isHidden(tag)) this.hidden -= 1;
    this.edge(tag);
  }

  /** Adds one line break at most, because a text without words would otherwise consist of nothing else. */
  private edge(tag: string): void {
    if (isBlock(tag) && this.pieces.at(-1) !== '\n') this.pieces.push('\n');
  }
}

/** Leaves one space between words and one line break between blocks. */
export function tidied(text: string): string {
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim();
}
