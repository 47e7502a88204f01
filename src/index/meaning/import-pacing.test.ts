import { describe, expect, it } from 'vitest';
import { ImportPacing } from './import-pacing.js';

const PATIENT = { comparedBytesMax: 100, waitMsMax: 2 ** 30 };

/** Graph builds that end when a test says so. */
class Scripted {
  compared = 0;
  building: Promise<void> | undefined;
  private end = () => {};

  begin(): void {
    this.building = new Promise((resolve) => (this.end = resolve));
  }

  /** Ends the current build; if `next` is true, another one has begun by then. */
  ended(next: boolean): void {
    const { end } = this;
    this.building = undefined;
    if (next) this.begin();
    end();
  }

  pacing(limits = PATIENT): ImportPacing {
    return new ImportPacing({ comparedBytes: () => this.compared, building: () => this.building, limits });
  }
}

/** Resolves with whether the import still waits after everything else had its turn. */
async function waits(room: Promise<void>): Promise<boolean> {
  let isThere = false;
  void room.then(() => (isThere = true));
  await new Promise((resolve) => setImmediate(resolve));
  return !isThere;
}

describe('ImportPacing', () => {
  it('holds no import back while few vectors lack a graph, or no graph is being built', async () => {
    const work = new Scripted();
    work.begin();
    work.compared = 100;
    expect(await waits(work.pacing().room())).toBe(false);
    work.compared = 101;
    work.ended(false);
    expect(await waits(work.pacing().room())).toBe(false);
  });

  it('lets all imports continue together when merges have caught up, however many that takes', async () => {
    const work = new Scripted();
    const pacing = work.pacing();
    work.begin();
    work.compared = 400;
    const rooms = [pacing.room(), pacing.room()];
    work.ended(true);
    expect(await Promise.all(rooms.map(waits))).toEqual([true, true]);
    expect(pacing.holdsBack).toBe(true);
    work.compared = 100;
    work.ended(true);
    await Promise.all(rooms);
    expect(pacing.holdsBack).toBe(false);
    work.compared = 101;
    expect(await waits(pacing.room())).toBe(true);
  });

  it('lets imports continue if a merge fails, takes too long, or the list is closed', async () => {
    const work = new Scripted();
    work.begin();
    work.compared = 101;
    const failing = work.pacing().room();
    expect(await waits(failing)).toBe(true);
    work.ended(false);
    await failing;
    work.begin();
    await work.pacing({ ...PATIENT, waitMsMax: 1 }).room();
    const closing = work.pacing();
    const room = closing.room();
    expect(await waits(room)).toBe(true);
    closing.stop();
    await room;
    expect(await waits(closing.room())).toBe(false);
  });
});
