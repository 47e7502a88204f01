/** What a thread keeps of the lists that it searches. */
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

/** Generations of lists by their numbers; says how often a term was looked at. */
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

it('is as much as may be kept: lists with long rules are made anew when others were searched meanwhile', () => {
  // Of digits, so that each is analysed.
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
  // Of those, the second was searched the longest time ago.
  expect(lists.get(0)).toBe(first);
  lists.get(3);
  expect(lists.analysed).toBe(31);
  lists.get(1);
  expect(lists.analysed).toBe(41);
});

it('has no rules as they are written', () => {
  const { settings: kept, synonyms } = new FewLists([settings('a', ['one', 'two'])]).get(0);
  expect(Object.keys(kept).sort()).toEqual(['definition', 'language', 'list']);
  expect(synonyms.match(['one'])).toMatchObject([{ expansions: [['two']] }]);
});

it('is not made anew for a rule that is tried', () => {
  const lists = new FewLists([settings('a', ['1', '2', '3'])]);
  lists.get(0);
  const before = lists.analysed;
  const tried = lists.contexts.withSynonymRule(0, { kind: 'equivalent', terms: ['4', '5'] });
  expect(lists.analysed - before).toBe(2);
  expect(lists.get(0)).not.toBe(tried);
  expect(lists.analysed - before).toBe(2);
});
