/**
 * Whether searches are at work, told to threads whose work can wait: they give way for moments, so that a search does not share its
 * processor with them (docs/decisions/0195, 0197).
 */
import { setTimeout as wait } from 'node:timers/promises';

/** How long a piece of work is put off at most: however busy searches are, 12 pieces a second go on. */
const GIVE_WAY_MS_MAX = 80;
/**
 * So long no search has been at work where a piece goes on. Searches come in crowds: a shorter pause is one between two of them, and what is begun in it
 * has a processor when the next one comes (docs/decisions/0240).
 */
const QUIET_MS = 10;
/** For so long after a search another one is to be expected: what is begun in a pause should be short. */
const RECENT_MS = 10_000;

/** How long a thread sleeps between two looks in a rest; a search has a processor for about as long. */
const REST_MS = 0.25;
/** Of one piece of work, all of its rests together: however busy searches are, it takes so much longer and no more. */
const RESTS_MS_MAX = 60;

/** Places in the shared memory. */
const AT_WORK = 0;
const CHANGES = 1;
const RESTS = 2;

/** Written by the thread that hands searches out, read by others. */
export class SearchActivity {
  /** 32-bit integers: batches of searches that threads have in hand, how often one began or ended, and how often others slept for them; the latter wrap around. */
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

  /** How often threads slept between two steps of their work for searches. */
  get rests(): number {
    return Atomics.load(this.batches, RESTS);
  }
}

/**
 * Of a thread that does its work in one go, as an ingest thread does a commit, and cannot wait for promises in the middle of it: between two steps it sleeps
 * while searches are at work (docs/decisions/0308).
 */
export class Rests {
  private readonly batches: Int32Array;
  /** Nobody wakes who sleeps on it. */
  private readonly bed = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

  /** `shared`: that of the `SearchActivity`. `msMax`: of one piece of work. */
  constructor(
    shared: SharedArrayBuffer,
    private readonly msMax = RESTS_MS_MAX,
  ) {
    this.batches = new Int32Array(shared);
  }

  /** For one piece of work: what is to be called between two of its steps. Returns when no search is at work, or when all rests of the piece have had their time. */
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

/** Of a thread whose work can wait. */
export class GiveWay {
  private readonly batches: Int32Array;
  private readonly msMax: number;
  private readonly quietMs: number;
  private readonly recentMs: number;
  private last: Promise<boolean> = Promise.resolve(false);
  /** What was done since the last wait, in pieces. */
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
   * Resolves when no search has been at work for a moment, `msMax` after its turn came at the latest; with whether one was seen within the
   * last ten seconds. Those who wait take turns. `share`: what is to be done is this part of a piece, so that several of them wait once.
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
