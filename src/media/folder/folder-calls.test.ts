/** Calls of a file system that does not answer: whoever waits is told, and nobody else waits with them. */
import { expect, it } from 'vitest';
import { WeightedTurns } from '../../platform/index.js';
import { FolderCalls } from './folder-calls.js';

const SILENT = { code: 'store-unavailable' };

function hung() {
  let answer = (_text: string): void => undefined;
  const call = new Promise<string>((resolve) => (answer = resolve));
  return { call: () => call, answer };
}

it('a call that is not answered is given up, those behind it at once, and those of other stores go on', async () => {
  const turns = new WeightedTurns(2);
  const one = new FolderCalls({ turns, callsMax: 1, answerMsMax: 1 });
  const { call, answer } = hung();
  const late: string[] = [];
  const behind = one.run(call, (text) => late.push(text));
  await expect(behind).rejects.toMatchObject(SILENT);
  await expect(one.run(() => Promise.resolve('never asked'))).rejects.toMatchObject(SILENT);
  const patient = new FolderCalls({ turns });
  expect(await patient.run(() => Promise.resolve('answered'))).toBe('answered');
  // What is held is given back when it can be; nobody waits for it.
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

it('who has waited for a turn has all of the time for an answer', async () => {
  const turns = new WeightedTurns(1);
  const { call, answer } = hung();
  const first = new FolderCalls({ turns }).run(call);
  const patient = new FolderCalls({ turns, answerMsMax: 1, turnMsMax: 600_000 });
  const second = patient.run(() => Promise.resolve('second'));
  // Longer than it may wait for the answer.
  await expect(new FolderCalls({ turns, answerMsMax: 5 }).run(() => Promise.resolve())).rejects.toMatchObject({
    ...SILENT,
    detail: expect.stringContaining('take all turns') as string,
  });
  answer('first');
  expect([await first, await second]).toEqual(['first', 'second']);
});

it('many that wait to give back what they hold are no leak of listeners to those who read the log', async () => {
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
  // A warning is told when what runs has ended.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listener);
  expect(warned).toEqual([]);
});

it('who waits too long for a turn is told, and takes none any more', async () => {
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
