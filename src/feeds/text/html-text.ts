/** The text of a piece of HTML: what a reader sees of it, in lines. */
import { OPEN_ELEMENTS_MAX, parseBounded } from './bounded-parsing.js';
import { cutText } from './cut-text.js';
import { Parser } from 'htmlparser2';

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

/** At most `charactersMax`, cut between two characters. Plain text comes out as it went in, but for its white space. */
export function htmlToText(html: string, charactersMax: number): string {
  // Most titles and names hold neither.
  if (!/[<&]/.test(html)) return cutText(tidied(html), charactersMax);
  const pieces: string[] = [];
  let characters = 0;
  let hidden = 0;
  let open = 0;
  const parser = new Parser({
    onopentagname: (tag) => {
      open += 1;
      if (isHidden(tag)) hidden += 1;
      if (isBlock(tag)) pieces.push('\n');
    },
    ontext: (text) => {
      if (hidden > 0 || characters > charactersMax) return;
      pieces.push(text);
      characters += text.length;
    },
    onclosetag: (tag) => {
      open -= 1;
      if (isHidden(tag)) hidden -= 1;
      if (isBlock(tag)) pieces.push('\n');
    },
  });
  parseBounded(parser, html, () => open > OPEN_ELEMENTS_MAX || characters > charactersMax);
  return cutText(tidied(pieces.join('')), charactersMax);
}

/** One space between words, one end of line between blocks. */
export function tidied(text: string): string {
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim();
}
