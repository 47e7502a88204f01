/** Answers of search workers that an operation makes its own from. */
import type { SearchAnswer } from '../../search/index.js';

/** The JSON of an answer, whose bytes nobody needs after. */
export function parsedAnswer({ body, room }: SearchAnswer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as unknown;
  } finally {
    room?.release();
  }
}
