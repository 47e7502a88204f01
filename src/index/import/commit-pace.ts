/**
 * How much of an import one commit of a list takes: as much as is committed in a bearable time. A small write that comes waits for the
 * commit that is under way, and the first one cannot be foreseen. Main thread only.
 */

/** Where nothing better is known, and never less: smaller commits bring merges, and gain whoever waits little. */
const COMMIT_BYTES_MIN = 4 * 2 ** 20;
const COMMIT_MS = 500;
/** Of the latest commit in what is held to be the speed: one that met a busy disk says little by itself. */
const SHARE_OF_LATEST = 0.5;

export class CommitPace {
  /** Bytes a millisecond, as the latest commits had it. */
  private speed: number | undefined;

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** Of the records of one commit. */
  get bytesMax(): number {
    return Math.max(COMMIT_BYTES_MIN, Math.floor((this.speed ?? 0) * COMMIT_MS));
  }

  /** Runs a commit of so many bytes of records and takes its speed. One that fails tells nothing. */
  async timed<Result>(bytes: number, commit: () => Promise<Result>): Promise<Result> {
    const begun = this.nowMs();
    const result = await commit();
    this.took(bytes, this.nowMs() - begun);
    return result;
  }

  private took(bytes: number, ms: number): void {
    // What an import ends with is mostly a little, whose time is that of the disk.
    if (bytes < COMMIT_BYTES_MIN / 2) return;
    const latest = bytes / Math.max(ms, 1);
    // The geometric mean: half the speed and twice the speed are equally far away.
    this.speed = this.speed === undefined ? latest : this.speed ** (1 - SHARE_OF_LATEST) * latest ** SHARE_OF_LATEST;
  }
}
