/** Long work in pieces, between which the event loop turns: signals are heard, and connections are looked after. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Some 20 ms of parsing. */
const PIECE_ITEMS_MAX = 2000;

/** What `map` makes of each item, in their order. Rejects with what `map` throws. */
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
