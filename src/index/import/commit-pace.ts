/**
 * Chooses the size of an import's commits so that each takes a bearable time: a small write waits for the commit in
 * progress, and the first small write cannot be foreseen. Main thread only.
 */

/**
 * Minimum, and default while the speed is unknown. Smaller commits cause more merges and hardly shorten the waiting.
 */
const COMMIT_BYTES_MIN = 4 * 2 ** 20;
const COMMIT_MS = 500;
/** Weight of the latest commit in the estimated speed; low, because a single commit may have met a busy disk. */
const SHARE_OF_LATEST = 0.5;

export class CommitPace {
  /** Estimated speed in bytes per millisecond. */
  private speed: number | undefined;

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** Maximum size in bytes of the records of one commit. */
  get bytesMax(): number {
    return Math.max(COMMIT_BYTES_MIN, Math.floor((this.speed ?? 0) * COMMIT_MS));
  }

  /** Runs a commit of that many bytes of records and measures its speed. A failed commit is not measured. */
  async timed<Result>(bytes: number, commit: () => Promise<Result>): Promise<Result> {
    const begun = this.nowMs();
    const result = await commit();
    this.took(bytes, this.nowMs() - begun);
    return result;
  }

  private took(bytes: number, ms: number): void {
    // The last commit of an import is mostly small, so its time is that of the disk rather than of its bytes.
    if (bytes < COMMIT_BYTES_MIN / 2) return;
    const latest = bytes / Math.max(ms, 1);
    // Geometric mean: half the speed and twice the speed have the same weight.
    this.speed = this.speed === undefined ? latest : this.speed ** (1 - SHARE_OF_LATEST) * latest ** SHARE_OF_LATEST;
  }
}
