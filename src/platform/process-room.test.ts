import { describe, expect, it } from 'vitest';
import {
  asResourceError,
  assertEnvironmentRoom,
  assertGrowthRoom,
  describeUse,
  limitReached,
  processLimits,
  ProcessRoom,
  type ResourceUse,
} from './process-room.js';
import { describeWhere } from '../../test/support/skip.js';

const NOTHING = { descriptors: 0, maps: 0, addressBytes: 0 };
const few = { resource: 'descriptors', used: 90, max: 100 } as const;
const maps = { resource: 'maps', used: 10, max: 65_530 } as const;

describeWhere(process.platform === 'linux', 'limits of Linux')('the limits of this process', () => {
  it('are read with the current use', () => {
    const limits = processLimits();
    expect(limits.map(({ resource }) => resource)).toEqual(['descriptors', 'maps', 'addressBytes']);
    for (const { used, max } of limits) {
      expect(used).toBeGreaterThan(0);
      expect(max).toBeGreaterThan(used);
    }
  });

  it('leave room for an environment, but not for one larger than the address space', () => {
    expect(() => {
      assertEnvironmentRoom(2 ** 28);
      assertGrowthRoom(2 ** 28);
    }).not.toThrow();
    expect(() => {
      assertEnvironmentRoom(2 ** 47);
    }).toThrow(expect.objectContaining({ code: 'resources-exhausted', status: 503 }));
    expect(() => {
      assertGrowthRoom(2 ** 46);
    }).toThrow(/address space/u);
  });
});

describe('ProcessRoom', () => {
  it('lacks room for what exceeds the free resources minus those reserved', () => {
    const room = new ProcessRoom(() => [few, maps]);
    expect(room.lacking({ ...NOTHING, descriptors: 10 }, NOTHING)).toBeUndefined();
    expect(room.lacking({ ...NOTHING, descriptors: 11 }, NOTHING)).toEqual(few);
    expect(room.lacking({ ...NOTHING, descriptors: 1 }, { ...NOTHING, descriptors: 10 })).toEqual(few);
    expect(room.lacking({ ...NOTHING, maps: 70_000 }, NOTHING)).toEqual(maps);
  });

  it('counts what was taken since the last measurement', () => {
    const room = new ProcessRoom(() => [few]);
    expect(room.lacking({ ...NOTHING, descriptors: 6 }, NOTHING)).toBeUndefined();
    room.take({ ...NOTHING, descriptors: 6 });
    expect(room.lacking({ ...NOTHING, descriptors: 6 }, NOTHING)).toEqual({ ...few, used: 96 });
  });

  it('is measured rarely if measuring takes long, and often near a limit', () => {
    let [nowMs, counts] = [0, 0];
    let use: ResourceUse = { ...maps };
    const room = new ProcessRoom(
      () => {
        nowMs += 10;
        counts += 1;
        return [use];
      },
      () => nowMs,
    );
    const countsIn = (milliseconds: number) => {
      const before = counts;
      for (const end = nowMs + milliseconds; nowMs < end; nowMs += 10) room.lacking(NOTHING, NOTHING);
      return counts - before;
    };
    // 10 ms of measuring in each 4 s.
    expect(countsIn(40_000)).toBeLessThanOrEqual(10);
    room.take({ ...NOTHING, maps: 40_000 });
    use = { ...maps, used: 40_010 };
    expect(countsIn(5_000)).toBeGreaterThanOrEqual(9);
  });

  it('is unlimited if the system reports no limits', () => {
    const room = new ProcessRoom(() => []);
    expect(room.lacking({ descriptors: 1e9, maps: 1e9, addressBytes: 1e18 }, NOTHING)).toBeUndefined();
  });
});

describe('reports of limits', () => {
  it('name the limit and how to raise it', () => {
    const use: ResourceUse = { resource: 'descriptors', used: 1020, max: 1024 };
    expect(describeUse(use)).toBe('1,020 of 1,024 descriptors (ulimit -n) are used');
    expect(limitReached('one list more', use)).toMatchObject({ code: 'limit-reached', status: 507 });
    expect(limitReached('one list more', use).detail).toContain('ulimit -n');
  });

  it.each([
    [Object.assign(new Error('x'), { code: 'EMFILE' }), 'ulimit -n'],
    [Object.assign(new Error('x'), { code: 'ENFILE' }), 'fs.file-max'],
    [Object.assign(new Error('open /a: Too many open files'), { code: 'io' }), 'ulimit -n'],
    [new Error('Cannot allocate memory'), 'memory'],
    [Object.assign(new Error('x'), { code: 'EAGAIN', syscall: 'spawn node' }), 'ulimit -u'],
    [Object.assign(new Error('x'), { code: 'ERR_WORKER_INIT_FAILED' }), 'threads'],
  ])('recognize an error of the system that means a limit was reached (%s)', (error, name) => {
    const known = asResourceError(error) as { code: string; detail: string };
    expect(known.code).toBe('resources-exhausted');
    expect(known.detail).toContain(name);
  });

  it('leave other errors unchanged', () => {
    const other = new Error('something else');
    expect(asResourceError(other)).toBe(other);
    const wouldWait = Object.assign(new Error('x'), { code: 'EAGAIN', syscall: 'read' });
    expect(asResourceError(wouldWait)).toBe(wouldWait);
  });
});
