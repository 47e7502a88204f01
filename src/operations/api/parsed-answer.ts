/** Parses answers of search workers, for operations that build their own answer from them. */
import type { SearchAnswer } from '../../search/index.js';

/** Parses an answer and releases its memory. */
export function parsedAnswer({ body, room }: SearchAnswer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as unknown;
  } finally {
    room?.release();
  }
}
