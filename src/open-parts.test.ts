import { expect, it } from 'vitest';
import { SimulatedTimers } from '../test/support/simulated-timers.js';
import { CLOSE_MS_MAX, CLOSE_PROCESSOR_MS_MAX, OpenParts } from './open-parts.js';

/** Returns open parts in a process that uses this share of a processor while time passes. */
function partsOf(share: number) {
  const timers = new SimulatedTimers();
  const begin = timers.nowMs();
  const said: string[] = [];
  const exits: number[] = [];
  const say = (...words: readonly unknown[]) => void said.push(String(words.at(-1)));
  const parts = new OpenParts({
    log: { debug: () => undefined, warn: say, error: say, drain: () => Promise.resolve() },
    timers,
    processorMs: () => (timers.nowMs() - begin) * share,
    exit: (status) => exits.push(status),
  });
  return { timers, said, exits, parts };
}
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const never = () => new Promise<void>(() => undefined);

it('OpenParts closes the last opened part first, and continues if a part fails', async () => {
  const { parts, said, timers } = partsOf(1);
  const closed: string[] = [];
  for (const name of ['first', 'second', 'third'])
    parts.opened(name, () => {
      closed.push(name);
      if (name === 'second') throw new Error('no');
    });
  await parts.close(true);
  expect(closed).toEqual(['third', 'second', 'first']);
  expect(said).toEqual(['Closing failed (second)']);
  expect(timers.waiting).toBe(0);
});

it('OpenParts gives up a part that computes for too long, and ends the process', async () => {
  const { parts, timers, said, exits } = partsOf(1);
  parts.opened('merge', never);
  void parts.close(true);
  await timers.pass(CLOSE_PROCESSOR_MS_MAX - 1, settled);
  expect(exits).toEqual([]);
  await timers.pass(1000, settled);
  expect(said).toEqual(['Gave up closing (merge) after 5 s, 5 of a processor']);
  expect(exits).toEqual([0]);
});

it('OpenParts waits for a part that gets little processor time, each part with its own limit', async () => {
  const { parts, timers, exits } = partsOf(0.1);
  const ends: (() => void)[] = [];
  for (const name of ['lists', 'threads'])
    parts.opened(name, () => new Promise<void>((resolve) => void ends.push(resolve)));
  const closed = parts.close(true);
  for (let part = 0; part < 2; part += 1) {
    await timers.pass(CLOSE_MS_MAX * 0.75, settled);
    ends[part]?.();
    await settled();
  }
  await closed;
  expect(exits).toEqual([]);
});

it('OpenParts finally gives up a part that uses no processor time and waits for ever', async () => {
  const { parts, timers, said, exits } = partsOf(0);
  parts.opened('thread', never);
  void parts.close(true);
  await timers.pass(CLOSE_MS_MAX + 1000, settled);
  expect([said, exits]).toEqual([['Gave up closing (thread) after 60 s, 0 of a processor'], [0]]);
});

it.each([
  ['HTTP, which has its own time', 'HTTP', true],
  ['what a failed start leaves', 'thread', false],
])('OpenParts does not give up %s', async (_what, name, exitWhenStuck) => {
  const { parts, timers, exits } = partsOf(1);
  parts.opened(name, never);
  void parts.close(exitWhenStuck);
  await timers.pass(2 * CLOSE_MS_MAX, settled);
  expect([timers.waiting, exits]).toEqual([0, []]);
});
