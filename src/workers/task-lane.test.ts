import { describe, expect, it } from 'vitest';
import { TaskLane } from './task-lane.js';

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('TaskLane', () => {
  it('runs tasks in their order, a limited number at a time', async () => {
    const lane = new TaskLane({ atWorkMax: 2 });
    const gates = Array.from({ length: 5 }, gate);
    const started: number[] = [];
    const done = gates.map(({ opened }, index) =>
      lane.run(async () => {
        started.push(index);
        await opened;
        return index;
      }),
    );
    await Promise.resolve();
    expect(started).toEqual([0, 1]);
    expect(lane.waiting).toBe(3);
    gates[1]?.open();
    expect(await done[1]).toBe(1);
    await Promise.resolve();
    expect(started).toEqual([0, 1, 2]);
    for (const { open } of gates) open();
    expect(await Promise.all(done)).toEqual([0, 1, 2, 3, 4]);
    await lane.drained();
  });

  it('continues after a failure', async () => {
    const lane = new TaskLane({ atWorkMax: 1 });
    const failed = lane.run(() => Promise.reject(new Error('no')));
    const next = lane.run(() => Promise.resolve('next'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('next');
  });

  it('removes an aborted task from the queue, but not a running one', async () => {
    const lane = new TaskLane({ atWorkMax: 1 });
    const { opened, open } = gate();
    const client = new AbortController();
    const atWork = lane.run(() => opened, { signal: client.signal });
    let ran = false;
    const waiting = lane.run(() => Promise.resolve((ran = true)), { signal: client.signal });
    const last = lane.run(() => Promise.resolve('last'));
    client.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect(lane.run(() => opened, { signal: client.signal })).rejects.toThrow('gone');
    open();
    await atWork;
    expect(await last).toBe('last');
    expect(ran).toBe(false);
  });

  it('lets an account wait for at most one task of each other account', async () => {
    const lane = new TaskLane({ atWorkMax: 1 });
    const { opened, open } = gate();
    const order: string[] = [];
    const run = (account: string) => lane.run(() => Promise.resolve(order.push(account)), { account });
    const all = [lane.run(() => opened, { account: 'many' })];
    const others = ['many', 'many', 'many', 'many', 'one', 'few', 'few'].map(run);
    expect(lane.waiting).toBe(7);
    expect([...lane.waitingByAccount()]).toEqual([
      ['many', 4],
      ['one', 1],
      ['few', 2],
    ]);
    open();
    await Promise.all([...all, ...others]);
    expect(order.slice(0, 3).toSorted()).toEqual(['few', 'many', 'one']);
    expect(order.slice(3)).toEqual(['many', 'few', 'many', 'many']);
  });
});
