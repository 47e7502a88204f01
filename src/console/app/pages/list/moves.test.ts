import fc from 'fast-check';
import { expect, it } from 'vitest';
import { movesOf } from './moves.js';

it('movesOf tells which records moved, which are new and which stayed', () => {
  const moves = movesOf(['a', 'b', 'c', 'd'], ['a', 'c', 'e', 'b']);
  expect(Object.fromEntries(moves)).toEqual({
    a: { kind: 'same' },
    c: { kind: 'moved', places: 1 },
    e: { kind: 'new' },
    b: { kind: 'moved', places: -2 },
  });
});

it('movesOf leads from each place back to the one before (property)', () => {
  const ids = fc.uniqueArray(fc.string(), { maxLength: 20 });
  fc.assert(
    fc.property(ids, ids, (before, after) => {
      const moves = movesOf(before, after);
      after.forEach((id, place) => {
        const move = moves.get(id);
        const old = move?.kind === 'moved' ? place + move.places : place;
        if (move?.kind === 'new') expect(before).not.toContain(id);
        else expect(before[old]).toBe(id);
      });
      expect(moves.size).toBe(after.length);
    }),
  );
});
