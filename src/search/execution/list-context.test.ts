/** What a thread keeps of the lists that it searches (`ListContexts`). */
import { expect, it } from 'vitest';
import { ListContexts } from './list-context.js';

const settings = (list: string, terms: readonly string[]) =>
  JSON.stringify({
    list,
    language: 'en',
    definition: { searchable_fields: [], facets: [], resources: [], location_field: null },
    query_rules: [],
    synonym_rules: [{ kind: 'equivalent', terms }],
  });

/** Generations of lists by their numbers; `analysed` counts how many terms of synonyms were analysed. */
class FewLists {
  analysed = 0;
  readonly contexts: ListContexts;

  constructor(lists: readonly string[]) {
    this.contexts = new ListContexts({
      generationSettings: (generation) => lists[generation] ?? '',
      analyse: () => {
        this.analysed += 1;
        return [];
      },
    });
  }

  get(list: number) {
    return this.contexts.get(list);
  }
}

it('Contexts of lists with long rules are evicted, the least recently searched first, when the limit is reached', () => {
  // The terms are of digits, so that each of them is analysed.
  const long = (list: string) =>
    settings(
      list,
      Array.from({ length: 10 }, (_, n) => `${n}`.repeat(150_000)),
    );
  const lists = new FewLists([long('a'), long('b'), long('c'), settings('d', ['1'])]);
  const first = lists.get(0);
  lists.get(1);
  expect(lists.analysed).toBe(20);
  expect(lists.get(0)).toBe(first);
  expect(lists.analysed).toBe(20);
  lists.get(2);
  expect(lists.analysed).toBe(30);
  // Of the three, list 1 was searched the longest time ago.
  expect(lists.get(0)).toBe(first);
  lists.get(3);
  expect(lists.analysed).toBe(31);
  lists.get(1);
  expect(lists.analysed).toBe(41);
});

it('A context keeps the compiled synonyms, but not the rules as they are written', () => {
  const { settings: kept, synonyms } = new FewLists([settings('a', ['one', 'two'])]).get(0);
  expect(Object.keys(kept).sort()).toEqual(['definition', 'language', 'list']);
  expect(synonyms.match(['one'])).toMatchObject([{ expansions: [['two']] }]);
});

it('Testing a synonym rule analyses that rule alone, and leaves the kept context as it is', () => {
  const lists = new FewLists([settings('a', ['1', '2', '3'])]);
  lists.get(0);
  const before = lists.analysed;
  const tried = lists.contexts.withSynonymRule(0, { kind: 'equivalent', terms: ['4', '5'] });
  expect(lists.analysed - before).toBe(2);
  expect(lists.get(0)).not.toBe(tried);
  expect(lists.analysed - before).toBe(2);
});
