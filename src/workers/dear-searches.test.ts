import { describe, expect, it } from 'vitest';
import type { SearchOptions, SearchTask } from '../search/index.js';
import { DearSearches } from './dear-searches.js';

function task(options: SearchOptions, name = 'list', account = 'own') {
  const subject = { kind: 'list', name, version: 1 } as const;
  return { task: { kind: 'search', targets: [], subject, options, queryId: 'q' } satisfies SearchTask, account };
}

describe('searches that are known to be dear', () => {
  it.each<SearchOptions>([
    { exact: true },
    { typo_tolerance: false },
    { minimum_video_score: 0.5 },
    { ranking: 'none' },
  ])('are not those that do without, of a search with %o', (options) => {
    const dear = new DearSearches();
    dear.note(task({ query: 'a', ...options }));
    expect(dear.has(task({ query: 'a', ...options, highlight: false, vector: [1, 0] }))).toBe(true);
    expect(dear.has(task({ query: 'a' }))).toBe(false);
  });

  it('are those that match, count and sort the same, whatever page of it is shown', () => {
    const dear = new DearSearches();
    dear.note(task({ query: 'a', facets: ['tags'], skip: 0, size: 10 }));
    expect(dear.has(task({ query: 'a', facets: ['tags'], skip: 20, size: 5 }))).toBe(true);
    expect(dear.has(task({ query: 'b', facets: ['tags'] }))).toBe(false);
    expect(dear.has(task({ query: 'a' }))).toBe(false);
    expect(dear.has(task({ query: 'a', facets: ['tags'] }, 'other'))).toBe(false);
    // A list of somebody else that has the same name.
    expect(dear.has(task({ query: 'a', facets: ['tags'] }, 'list', 'another'))).toBe(false);
  });

  it('are forgotten where one was quick', () => {
    const dear = new DearSearches();
    dear.note(task({ query: 'a' }));
    dear.forget(task({ query: 'a' }));
    expect(dear.has(task({ query: 'a' }))).toBe(false);
  });

  it('are so many at most, the latest of them', () => {
    const dear = new DearSearches();
    for (let i = 0; i < 3000; ++i) dear.note(task({ query: String(i) }));
    expect(dear.has(task({ query: '0' }))).toBe(false);
    expect(dear.has(task({ query: '2999' }))).toBe(true);
  });
});
