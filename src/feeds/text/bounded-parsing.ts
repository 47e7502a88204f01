/** Markup of strangers goes through the parser in pieces, so that it can be left: its time grows with the square of the depth. */
import type { Parser } from 'htmlparser2';
import type { Slices } from './slices.js';

const PIECE_CHARACTERS = 65_536;
/** As browsers have it. */
export const OPEN_ELEMENTS_MAX = 512;

/**
 * Writes all of the text and ends the parser, or what comes before `isBeyondBounds` says true, in slices. `clean`: of each piece, what the parser is
 * to see.
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

/** The same at once, of what does not end the text. */
export function writeBounded(parser: Parser, text: string, isBeyondBounds: () => boolean): void {
  for (const piece of pieces(text)) {
    if (isBeyondBounds()) return;
    parser.write(piece);
  }
}

function* pieces(text: string): Generator<string> {
  for (let start = 0; start < text.length; start += PIECE_CHARACTERS) yield text.slice(start, start + PIECE_CHARACTERS);
}
