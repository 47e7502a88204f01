import { expect, it } from 'vitest';
import { StorageFaults } from './storage-faults.js';

it('StorageFaults logs a fault once, repeats it now and then while it lasts, and logs its end', () => {
  const told: unknown[] = [];
  const log = { error: (content: unknown) => told.push(content), info: (content: unknown) => told.push(content) };
  let nowMs = 0;
  const faults = new StorageFaults(log as never, () => nowMs);
  for (; nowMs < 1_500_000; nowMs += 5000) faults.met('queue', 'it cannot be read');
  expect(told).toEqual([
    { folder: 'queue', reason: 'it cannot be read', count: 1 },
    { folder: 'queue', reason: 'it cannot be read', count: 121 },
    { folder: 'queue', reason: 'it cannot be read', count: 241 },
  ]);
  expect([faults.unreadable(), faults.has('queue'), faults.has('system')]).toEqual([['queue'], true, false]);
  faults.gone('queue');
  faults.gone('queue');
  expect([told.length, told.at(-1)]).toEqual([4, { folder: 'queue', count: 300, seconds: 1500 }]);
  expect(faults.unreadable()).toEqual([]);
});
