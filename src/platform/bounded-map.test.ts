import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BoundedMap } from './bounded-map.js';

const steps = fc.array(
  fc.record({ kind: fc.constantFrom('set', 'renew', 'delete'), key: fc.integer({ min: 0, max: 6 }), value: fc.nat() }),
);

it('BoundedMap keeps the newest entries up to its limit, whatever is done to it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), steps, (entriesMax, changes) => {
      const map = new BoundedMap<number, number>(entriesMax);
      /** The expected entries, oldest first. */
      let expected: [key: number, value: number][] = [];
      for (const { kind, key, value } of changes) {
        const known = expected.find(([each]) => each === key);
        if (kind === 'set' && known !== undefined) known[1] = value;
        else expected = expected.filter(([each]) => each !== key);
        if (kind === 'delete') expect(map.delete(key)).toBe(known !== undefined);
        else if (kind === 'renew') map.renew(key, value);
        else map.set(key, value);
        if (kind !== 'delete' && !(kind === 'set' && known !== undefined)) expected.push([key, value]);
        expected = expected.slice(-entriesMax);
        expect(map.size).toBe(expected.length);
        for (let each = 0; each <= 6; each += 1) {
          expect(map.get(each)).toBe(expected.find(([one]) => one === each)?.[1]);
          expect(map.has(each)).toBe(expected.some(([one]) => one === each));
        }
      }
    }),
  );
});
