import { expect, it } from 'vitest';
import { joined } from './queries.js';

it('joined appends a page and keeps where the next one begins', () => {
  const first = { lists: ['a', 'b'], next: 'c' as string | undefined };
  expect(joined(first, { lists: ['c'], next: 'd' })).toEqual({ lists: ['a', 'b', 'c'], next: 'd' });
  expect(joined(first, { lists: [], next: undefined }).lists).toEqual(['a', 'b']);
  expect(joined(first, { lists: ['c'], next: undefined }).next).toBeUndefined();
});
