/** Splits long work into pieces, so that the event loop can handle signals and connections in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** About 20 ms of parsing. */
const PIECE_ITEMS_MAX = 2000;

/** Maps the items in order. Rejects with what `map` throws. */
export async function mapInPieces<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
  pieceItemsMax: number = PIECE_ITEMS_MAX,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(map(item));
    if (results.length % pieceItemsMax === 0) await nextTurn();
  }
  return results;
}
