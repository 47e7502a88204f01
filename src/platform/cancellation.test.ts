import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { beforeEndOf, unlessEnded } from './cancellation.js';

it('unlessEnded waits no longer than its signal, even for a promise that never settles', async () => {
  const closing = new AbortController();
  expect(await unlessEnded(closing.signal, Promise.resolve('done'))).toBe('done');
  await expect(unlessEnded(closing.signal, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  const waiting = unlessEnded(closing.signal, new Promise(() => undefined));
  closing.abort();
  expect(await waiting).toBeUndefined();
  expect(await unlessEnded(closing.signal, new Promise(() => undefined))).toBeUndefined();
});

it('unlessEnded and beforeEndOf leave no listener on the signal', async () => {
  const { signal } = new AbortController();
  await unlessEnded(signal, Promise.resolve());
  await beforeEndOf(signal, Promise.resolve());
  await expect(beforeEndOf(signal, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
