import { describe, expect, it } from 'vitest';
import { didYouMean, didYouMeanName, nearest, nearestName } from './suggest.js';

const OPTIONS = ['order_by', 'select', 'skip', 'size', 'typo_tolerance'];

describe('nearest', () => {
  it.each([
    ['orderby', 'order_by'],
    ['orderBy', 'order_by'],
    ['typo_tolerence', 'typo_tolerance'],
    ['selects', 'select'],
    ['sise', 'size'],
    ['szie', 'size'],
  ])('finds the option meant by %s', (word, meant) => expect(nearest(word, OPTIONS)).toBe(meant));

  it.each(['banana', '', 'x'.repeat(10_000)])('finds nothing near %.10s', (word) =>
    expect(nearest(word, OPTIONS)).toBeUndefined(),
  );
});

describe('nearestName', () => {
  const TOOLS = ['list_create', 'list_list', 'search_group', 'search_list', 'search_result_list', 'search_result_read'];

  it.each([
    ['search', 'search_list'],
    ['Search', 'search_list'],
    ['serch_list', 'search_list'],
    ['create_list', 'list_create'],
    ['list.search', 'search_list'],
    ['read_result', 'search_result_read'],
    ['list', 'list_list'],
  ])('finds the tool meant by %s', (name, meant) => expect(nearestName(name, TOOLS)).toBe(meant));

  it.each(['create', 'banana', '', '_', 'delete_list', 'x_'.repeat(10_000)])('finds nothing near %.10s', (name) =>
    expect(nearestName(name, TOOLS)).toBeUndefined(),
  );

  it('is told in a sentence', () => {
    expect(didYouMeanName('search', TOOLS)).toBe(" Did you mean 'search_list'?");
    expect(didYouMeanName('banana', TOOLS)).toBe('');
  });
});

describe('didYouMean', () => {
  it('returns an empty text or a sentence', () => {
    expect(didYouMean('skp', OPTIONS)).toBe(" Did you mean 'skip'?");
    expect(didYouMean('banana', OPTIONS)).toBe('');
  });
});
