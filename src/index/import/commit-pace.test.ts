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

it('CommitPace begins with 4 MiB, and then allows what is committed in half a second', async () => {
  const commits = new Commits();
  expect(commits.pace.bytesMax).toBe(4 * MIB);
  expect(await commits.commit(4, 100)).toBeCloseTo(20);
});

it('CommitPace allows less if commits take longer, but never less than 4 MiB', async () => {
  const commits = new Commits();
  await commits.commit(4, 100);
  // Commits have a fourth of the speed; the pace goes halfway.
  expect(await commits.commit(20, 2000)).toBeCloseTo(10);
  for (let n = 0; n < 10; n += 1) await commits.commit(4, 60_000);
  expect(commits.pace.bytesMax).toBe(4 * MIB);
  for (let n = 0; n < 20; n += 1) await commits.commit(4, 100);
  expect(commits.pace.bytesMax / MIB).toBeCloseTo(20, 1);
});

it('CommitPace ignores the small last commit of an import and failed commits, and never divides by zero', async () => {
  const commits = new Commits();
  await commits.commit(4, 100);
  expect(await commits.commit(0.001, 300)).toBeCloseTo(20);
  const failing = commits.pace.timed(8 * MIB, () => Promise.reject(new Error('no space')));
  await expect(failing).rejects.toThrow('no space');
  expect(commits.pace.bytesMax / MIB).toBeCloseTo(20);
  expect(await commits.commit(4, 0)).toBeGreaterThan(20);
});
