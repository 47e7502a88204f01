/**
 * Tells threads whose work can wait whether searches are running: they pause for moments, so that a search does not
 * share its processor with them (docs/decisions/0195, 0197).
 */
import { setTimeout as wait } from 'node:timers/promises';

/** Longest delay of one piece of work: however busy searches are, 12 pieces per second continue. */
const GIVE_WAY_MS_MAX = 80;
/**
 * No search must have been running for so long before a piece continues. Searches come in bursts, and shorter pauses
 * occur within them; work begun after this time leaves a processor to the next burst (docs/decisions/0240).
 */
const QUIET_MS = 10;
/** For so long after a search, another one is to be expected, and work begun in a pause should be short. */
const RECENT_MS = 10_000;

/** Duration of one sleep of a rest, between two checks; a search runs for about as long. */
const REST_MS = 0.25;
/** Limit of all rests of one piece of work: however busy searches are, it takes so much longer at most. */
const RESTS_MS_MAX = 60;

/** Indexes into the shared memory. */
const AT_WORK = 0;
const CHANGES = 1;
const RESTS = 2;

/** Counts running searches. Written by the thread that dispatches searches, read by others. */
export class SearchActivity {
  /**
   * Three 32-bit integers: batches of searches that threads are working on; begins and ends so far; rests so far. The
   * latter two wrap around.
   */
  readonly shared = new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT);
  private readonly batches = new Int32Array(this.shared);

  begin(): void {
    Atomics.add(this.batches, AT_WORK, 1);
    Atomics.add(this.batches, CHANGES, 1);
  }

  end(): void {
    Atomics.sub(this.batches, AT_WORK, 1);
    Atomics.add(this.batches, CHANGES, 1);
  }

  /** Number of times that threads have slept for searches between two steps of their work. */
  get rests(): number {
    return Atomics.load(this.batches, RESTS);
  }
}

/**
 * Lets a thread rest that cannot await promises within its work, such as an ingest thread within a commit: between two
 * steps it sleeps while searches are running (docs/decisions/0308).
 */
export class Rests {
  private readonly batches: Int32Array;
  /** Slept on; nobody wakes it. */
  private readonly bed = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

  /** `shared`: that of the `SearchActivity`. `msMax`: limit of the rests of one piece of work. */
  constructor(
    shared: SharedArrayBuffer,
    private readonly msMax = RESTS_MS_MAX,
  ) {
    this.batches = new Int32Array(shared);
  }

  /**
   * Returns a function to be called between two steps of one piece of work. It returns when no search is running, or
   * when the rests of the piece have reached their limit.
   */
  ofOnePiece(): () => void {
    let leftMs = this.msMax;
    return () => {
      while (leftMs > 0 && Atomics.load(this.batches, AT_WORK) > 0) {
        const begunMs = performance.now();
        Atomics.add(this.batches, RESTS, 1);
        Atomics.wait(this.bed, 0, 0, Math.min(REST_MS, leftMs));
        leftMs -= performance.now() - begunMs;
      }
    };
  }
}

export interface GiveWayOptions {
  readonly msMax?: number;
  readonly quietMs?: number;
  readonly recentMs?: number;
}

/** Lets a thread pause whose work can wait and is asynchronous. */
export class GiveWay {
  private readonly batches: Int32Array;
  private readonly msMax: number;
  private readonly quietMs: number;
  private readonly recentMs: number;
  private last: Promise<boolean> = Promise.resolve(false);
  /** Work since the last wait, in pieces. */
  private done = 0;
  private changes: number;
  private quietSinceMs = -Infinity;

  /** `shared`: that of the `SearchActivity`. */
  constructor(
    shared: SharedArrayBuffer,
    { msMax = GIVE_WAY_MS_MAX, quietMs = QUIET_MS, recentMs = RECENT_MS }: GiveWayOptions = {},
  ) {
    this.batches = new Int32Array(shared);
    this.changes = Atomics.load(this.batches, CHANGES);
    this.msMax = msMax;
    this.quietMs = quietMs;
    this.recentMs = recentMs;
  }

  /**
   * Resolves when no search has been running for a moment, at the latest `msMax` after its turn came, with true if a
   * search was seen within the last ten seconds. Waiters take turns. `share`: the next step is this part of a piece, so
   * several steps wait once.
   */
  wait(share = 1): Promise<boolean> {
    this.done += share;
    if (this.done < 1) return this.last;
    this.done -= 1;
    this.last = this.last.then(() => this.untilFree());
    return this.last;
  }

  private async untilFree(): Promise<boolean> {
    const startedMs = performance.now();
    const lastMs = startedMs + this.msMax;
    let nowMs = startedMs;
    for (; !this.isQuiet(nowMs) && nowMs < lastMs; nowMs = performance.now())
      await wait(Math.min(this.quietMs, lastMs - nowMs));
    return nowMs - this.quietSinceMs < this.recentMs;
  }

  private isQuiet(nowMs: number): boolean {
    const changes = Atomics.load(this.batches, CHANGES);
    const areAtWork = Atomics.load(this.batches, AT_WORK) > 0;
    if (areAtWork || changes !== this.changes) {
      this.changes = changes;
      this.quietSinceMs = nowMs;
    }
    return !areAtWork && nowMs - this.quietSinceMs >= this.quietMs;
  }
}
