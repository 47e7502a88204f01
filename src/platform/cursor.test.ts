import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OrderedKeys, pageOf } from './cursor.js';

const key = fc.string({ unit: fc.constantFrom('a', 'b', '/', '-', 'ü'), maxLength: 4 });

describe('OrderedKeys', () => {
  it('has the added and not removed keys in order, whatever the order of changes', () => {
    const changes = fc.array(fc.record({ isRemoved: fc.boolean(), key }));
    fc.assert(
      fc.property(fc.array(key), changes, key, fc.option(key, { nil: undefined }), (first, changed, prefix, after) => {
        const expected = new Set(first);
        const keys = new OrderedKeys(expected);
        for (const each of changed) {
          if (each.isRemoved) keys.remove(each.key);
          else keys.add(each.key);
          if (each.isRemoved) expected.delete(each.key);
          else expected.add(each.key);
        }
        const left = [...expected].filter((each) => each.startsWith(prefix)).sort();
        const behind = left.filter((each) => after === undefined || each > prefix + after);
        expect([...keys.from(prefix, after)]).toEqual(behind);
      }),
    );
  });
});

describe('pageOf', () => {
  it('returns all entries once, in pages of the given size', () => {
    fc.assert(
      fc.property(fc.uniqueArray(key), fc.integer({ min: 1, max: 5 }), (entries, size) => {
        const keys = new OrderedKeys(entries);
        const read: string[] = [];
        let after: string | undefined;
        do {
          const page = pageOf(keys.from('', after), (each) => each, size);
          expect(page.entries.length).toBeLessThanOrEqual(size);
          expect(page.next !== undefined && page.entries.length < size).toBe(false);
          read.push(...page.entries);
          after = page.next;
        } while (after !== undefined);
        expect(read).toEqual([...entries].sort());
      }),
    );
  });

  it('skips nothing if entries before the cursor are added and removed', () => {
    const keys = new OrderedKeys(['b', 'd', 'f']);
    const { next } = pageOf(keys.from(''), (each) => each, 2);
    keys.remove('d');
    keys.add('a');
    expect(pageOf(keys.from('', next), (each) => each, 2)).toEqual({ entries: ['f'], next: undefined });
  });
});
