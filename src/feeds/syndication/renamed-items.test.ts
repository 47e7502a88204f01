/** What is kept of the items of a feed between two answers that break off. */
import { expect, it } from 'vitest';
import { keptTraits, type TraitsOfItems } from './renamed-items.js';
import { ITEMS_MAX } from './syndicated-feed.js';

function items(begin: number, end: number, title = 'old'): TraitsOfItems {
  const numbers = Array.from({ length: end - begin }, (_, index) => begin + index);
  return Object.fromEntries(numbers.map((number) => [`item ${number}`, { guid: `${number}`, title }]));
}

it('keptTraits has all items of the last answer, and of those before as many as there is room for, the latest', () => {
  const now = items(40_000, 60_000, 'new');
  const kept = keptTraits(items(0, 50_000), now, []);
  const names = Object.keys(kept);
  expect(names).toHaveLength(ITEMS_MAX);
  expect([names[0], names.at(-1)]).toEqual(['item 10000', 'item 59999']);
  expect(Object.values(kept).filter(({ title }) => title === 'new')).toHaveLength(20_000);
  expect(Object.keys(keptTraits(kept, items(60_000, 60_000 + ITEMS_MAX), []))[0]).toBe('item 60000');
});

it('keptTraits has no item under the name that it had before', () => {
  expect(Object.keys(keptTraits(items(0, 3), items(5, 6), ['item 1']))).toEqual(['item 0', 'item 2', 'item 5']);
});
