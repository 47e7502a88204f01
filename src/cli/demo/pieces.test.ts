import { expect, it } from 'vitest';
import { mapInPieces } from './pieces.js';

it('mapInPieces lets the event loop run between parts, and keeps the order', async () => {
  const items = Array.from({ length: 95 }, (_, index) => index);
  let turns = 0;
  const countTurns = (): void => {
    turns += 1;
    pending = setImmediate(countTurns);
  };
  let pending = setImmediate(countTurns);
  const results = await mapInPieces(items, (item) => 2 * item, 10);
  clearImmediate(pending);
  expect(results).toEqual(items.map((item) => 2 * item));
  expect(turns).toBeGreaterThanOrEqual(9);
});
