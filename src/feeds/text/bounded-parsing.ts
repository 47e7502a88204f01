/** Markup of strangers goes through the parser in pieces, so that it can be left: its time grows with the square of the depth. */
import type { Parser } from 'htmlparser2';

const PIECE_CHARACTERS = 65_536;
/** As browsers have it. */
export const OPEN_ELEMENTS_MAX = 512;

/** Writes all of the text and ends the parser, or what comes before `isBeyondBounds` says true. */
export function parseBounded(parser: Parser, text: string, isBeyondBounds: () => boolean): void {
  writeBounded(parser, text, isBeyondBounds);
  parser.end();
}

/** The same of a part of a text. */
export function writeBounded(parser: Parser, text: string, isBeyondBounds: () => boolean): void {
  for (let start = 0; start < text.length && !isBeyondBounds(); start += PIECE_CHARACTERS) {
    parser.write(text.slice(start, start + PIECE_CHARACTERS));
  }
}
