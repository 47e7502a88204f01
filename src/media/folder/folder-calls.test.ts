/** Calls of a file system that does not answer: their callers get an error, and no other callers wait with them. */
import { expect, it } from 'vitest';
import { WeightedTurns } from '../../platform/index.js';
import { FolderCalls } from './folder-calls.js';

const SILENT = { code: 'store-unavailable' };

function hung() {
  let answer = (_text: string): void => undefined;
  const call = new Promise<string>((resolve) => (answer = resolve));
  return { call: () => call, answer };
}

it('A hanging call is given up, those behind it fail at once, and those of other stores continue', async () => {
  const turns = new WeightedTurns(2);
  const one = new FolderCalls({ turns, callsMax: 1, answerMsMax: 1 });
  const { call, answer } = hung();
  const late: string[] = [];
  const behind = one.run(call, (text) => late.push(text));
  await expect(behind).rejects.toMatchObject(SILENT);
  await expect(one.run(() => Promise.resolve('never asked'))).rejects.toMatchObject(SILENT);
  const patient = new FolderCalls({ turns });
  expect(await patient.run(() => Promise.resolve('answered'))).toBe('answered');
  // What is held is released later, and no caller waits for that.
  let isReleased = false;
  await one.release(() => Promise.resolve((isReleased = true)));
  expect(isReleased).toBe(false);
  answer('late');
  await expect.poll(() => late).toEqual(['late']);
  await expect.poll(() => isReleased).toBe(true);
  const again = new FolderCalls({ turns, callsMax: 1 });
  expect(await again.run(() => Promise.resolve('answered'))).toBe('answered');
  await expect.poll(() => one.run(() => Promise.resolve('again')).catch(() => '')).toBe('again');
  await expect(again.run(() => Promise.reject(new Error('of the call')))).rejects.toThrow('of the call');
});

it('A call that waited for its turn gets the whole time for its answer', async () => {
  const turns = new WeightedTurns(1);
  const { call, answer } = hung();
  const first = new FolderCalls({ turns }).run(call);
  const patient = new FolderCalls({ turns, answerMsMax: 1, turnMsMax: 600_000 });
  const second = patient.run(() => Promise.resolve('second'));
  // This call waits longer than it may wait for an answer.
  await expect(new FolderCalls({ turns, answerMsMax: 5 }).run(() => Promise.resolve())).rejects.toMatchObject({
    ...SILENT,
    detail: expect.stringContaining('take all turns') as string,
  });
  answer('first');
  expect([await first, await second]).toEqual(['first', 'second']);
});

it('Many calls that wait to release what they hold cause no warning about leaking listeners', async () => {
  const warned: Error[] = [];
  const listener = (warning: Error) => warned.push(warning);
  process.on('warning', listener);
  const turns = new WeightedTurns(1);
  const { call, answer } = hung();
  const first = new FolderCalls({ turns, callsMax: 100 }).run(call);
  const waiting = new FolderCalls({ turns, callsMax: 100 });
  const others = Array.from({ length: 30 }, () => waiting.release(() => Promise.resolve()));
  answer('first');
  await Promise.all([first, ...others]);
  // Warnings are emitted after the current code has run.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listener);
  expect(warned).toEqual([]);
});

it('A call that waits too long for its turn fails, and does not run later', async () => {
  const turns = new WeightedTurns(1);
  const { call, answer } = hung();
  const first = new FolderCalls({ turns }).run(call);
  const asked: string[] = [];
  const second = new FolderCalls({ turns, answerMsMax: 1 });
  await expect(second.run(() => Promise.resolve(asked.push('second')))).rejects.toMatchObject(SILENT);
  answer('done');
  expect(await first).toBe('done');
  const third = new FolderCalls({ turns });
  await third.run(() => Promise.resolve(asked.push('third')));
  expect(asked).toEqual(['third']);
});
