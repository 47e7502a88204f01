import { expect, it } from 'vitest';
import { CommitPace } from './commit-pace.js';

const MIB = 2 ** 20;

class Commits {
  private now = 0;
  readonly pace = new CommitPace(() => this.now);

  async commit(mib: number, ms: number): Promise<number> {
    await this.pace.timed(mib * MIB, async () => {
      this.now += ms;
    });
    return this.pace.bytesMax / MIB;
  }
}

it('begins with little, and takes what is committed in half a second', async () => {
  const commits = new Commits();
  expect(commits.pace.bytesMax).toBe(4 * MIB);
  expect(await commits.commit(4, 100)).toBeCloseTo(20);
});

it('takes less where commits take longer, and never less than four MiB', async () => {
  const commits = new Commits();
  await commits.commit(4, 100);
  // A fourth of the speed: half of it is believed.
  expect(await commits.commit(20, 2000)).toBeCloseTo(10);
  for (let n = 0; n < 10; n += 1) await commits.commit(4, 60_000);
  expect(commits.pace.bytesMax).toBe(4 * MIB);
  for (let n = 0; n < 20; n += 1) await commits.commit(4, 100);
  expect(commits.pace.bytesMax / MIB).toBeCloseTo(20, 1);
});

it('learns nothing from the little that an import ends with, nor from what failed, nor divides by no time', async () => {
  const commits = new Commits();
  await commits.commit(4, 100);
  expect(await commits.commit(0.001, 300)).toBeCloseTo(20);
  const failing = commits.pace.timed(8 * MIB, () => Promise.reject(new Error('no space')));
  await expect(failing).rejects.toThrow('no space');
  expect(commits.pace.bytesMax / MIB).toBeCloseTo(20);
  expect(await commits.commit(4, 0)).toBeGreaterThan(20);
});
