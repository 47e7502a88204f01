import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { builtInWorker } from './embedding-worker.js';

const work = [{ lane: 'm', item: 7, number: 1, dueMs: 0 }];
const worker = (embed: () => Promise<[]>) =>
  builtInWorker({ model: 'm', embed, onOutcome: () => undefined, onMissing: () => undefined });

it('A batch of the embedding worker leaves no listener on the signal, which lives as long as the list', async () => {
  const { signal } = new AbortController();
  const embedder = worker(() => Promise.resolve([]));
  for (let batch = 0; batch < 3; batch += 1) await embedder.perform(work, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('The embedding worker stops at once although the model ignores the signal', async () => {
  const abort = new AbortController();
  const performed = worker(() => new Promise<[]>(() => undefined)).perform(work, abort.signal);
  abort.abort();
  expect(await performed).toMatchObject([{ verdict: 'unavailable', result: { reason: 'stopped' } }]);
});
