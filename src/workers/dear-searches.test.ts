import { describe, expect, it } from 'vitest';
import type { SearchOptions, SearchTask } from '../search/index.js';
import { DearSearches } from './dear-searches.js';

function task(options: SearchOptions, name = 'list', account = 'own') {
  const subject = { kind: 'list', name, version: 1 } as const;
  return { task: { kind: 'search', targets: [], subject, options, queryId: 'q' } satisfies SearchTask, account };
}

describe('DearSearches', () => {
  it.each<SearchOptions>([
    { exact: true },
    { typo_tolerance: false },
    { minimum_video_score: 0.5 },
    { ranking: 'none' },
  ])('distinguishes a search with %o from one without', (options) => {
    const dear = new DearSearches();
    dear.note(task({ query: 'a', ...options }));
    expect(dear.has(task({ query: 'a', ...options, highlight: false, vector: [1, 0] }))).toBe(true);
    expect(dear.has(task({ query: 'a' }))).toBe(false);
  });

  it('recognizes searches with the same matches, counts and order, whatever page they show', () => {
    const dear = new DearSearches();
    dear.note(task({ query: 'a', facets: ['tags'], skip: 0, size: 10 }));
    expect(dear.has(task({ query: 'a', facets: ['tags'], skip: 20, size: 5 }))).toBe(true);
    expect(dear.has(task({ query: 'b', facets: ['tags'] }))).toBe(false);
    expect(dear.has(task({ query: 'a' }))).toBe(false);
    expect(dear.has(task({ query: 'a', facets: ['tags'] }, 'other'))).toBe(false);
    // This is another account's list of the same name.
    expect(dear.has(task({ query: 'a', facets: ['tags'] }, 'list', 'another'))).toBe(false);
  });

  it('forgets a search that was quick', () => {
    const dear = new DearSearches();
    dear.note(task({ query: 'a' }));
    dear.forget(task({ query: 'a' }));
    expect(dear.has(task({ query: 'a' }))).toBe(false);
  });

  it('keeps a limited number, the latest ones', () => {
    const dear = new DearSearches();
    for (let i = 0; i < 3000; ++i) dear.note(task({ query: String(i) }));
    expect(dear.has(task({ query: '0' }))).toBe(false);
    expect(dear.has(task({ query: '2999' }))).toBe(true);
  });
});
