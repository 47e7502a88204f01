/**
 * Passes markup from unknown sources to the parser in pieces, so that parsing can be stopped. The time the parser takes
 * grows with the square of the depth of nesting.
 */
import type { Parser } from 'htmlparser2';
import type { Slices } from './slices.js';

const PIECE_CHARACTERS = 65_536;
/** The same limit as in browsers. */
export const OPEN_ELEMENTS_MAX = 512;

/**
 * Writes the text to the parser in slices, and ends the parser. Stops as soon as `isBeyondBounds` returns true. `clean`
 * returns what the parser is to see of a piece.
 */
export async function parseInSlices(
  parser: Parser,
  text: string,
  isBeyondBounds: () => boolean,
  { slices, clean }: { readonly slices: Slices; readonly clean?: (piece: string) => string },
): Promise<void> {
  for (const piece of pieces(text)) {
    if (isBeyondBounds()) break;
    parser.write(clean === undefined ? piece : clean(piece));
    if (slices.areOver) await slices.next();
  }
  parser.end();
}

/** Does the same without slices, for a part of a text. Does not end the parser. */
export function writeBounded(parser: Parser, text: string, isBeyondBounds: () => boolean): void {
  for (const piece of pieces(text)) {
    if (isBeyondBounds()) return;
    parser.write(piece);
  }
}

function* pieces(text: string): Generator<string> {
  for (let start = 0; start < text.length; start += PIECE_CHARACTERS) yield text.slice(start, start + PIECE_CHARACTERS);
}
