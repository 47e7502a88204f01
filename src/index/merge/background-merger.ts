/**
 * Merges the segments of one list in the background. One merge runs at a time, while the list is written; only its
 * commit takes a turn in the list's queue, between two others. A failed merge leaves the old segments in force and is
 * retried after a pause. Main thread only.
 */
import { rm } from 'node:fs/promises';
import { mergeBytes, ServiceError, within } from '../../platform/index.js';
import {
  buildingVersionOf,
  currentVersionOf,
  segmentFile,
  type PartName,
  type VersionState,
} from '../../store/index.js';
import type { BackgroundHost } from '../versions/background-host.js';
import type { MergedSegment } from '../contract/ingest-tasks.js';
import { chooseMerge, chooseQuietMerge, type QuietMergePolicy } from './merge-policy.js';
import { indexOf, type VersionLease } from '../versions/published-generation.js';
import type { PublishedVersion } from '../versions/published-version.js';

const RETRY_PAUSE_MS = 30_000;
/** Time without a commit after which a list counts as quiet. */
const QUIET_MS = 1000;
/** After a start the lists begin at random times within this range, so that they do not all merge at once. */
const QUIET_AT_START_MS = { min: 10_000, max: 60_000 };
/** Longest time that a stop waits for a merge. A merge that ends later removes its file. */
export const STOP_WAIT_MS = 2000;

/** Indexes to merge, in this order. */
const INDEXES: readonly (PartName | undefined)[] = [undefined, 'pages'];
/**
 * Pages arrive file by file and leave segments of all sizes, whereas an import leaves a few of similar size; and each
 * search visits all of them in addition to the segments of the fields. So quiet merges are more eager for pages.
 */
const PAGES_OUTWEIGH_TIMES = 4;

/** Segments of an index to merge. `part` is undefined for the index of the fields. */
interface Merge {
  readonly version: VersionState;
  readonly part: PartName | undefined;
  readonly ids: readonly number[];
}

interface FinishedMerge {
  readonly part: PartName | undefined;
  /** Lease on the generation that was merged. */
  readonly lease: VersionLease;
  readonly ids: ReadonlySet<number>;
  readonly merged: MergedSegment | undefined;
  readonly newSegment: number;
}

/** The file that a merge was to write. */
interface MadeSegment {
  readonly version: number;
  readonly newSegment: number;
  readonly merged: MergedSegment | undefined;
}

export class BackgroundMerger {
  private running: Promise<void> | undefined;
  private pause: NodeJS.Timeout | undefined;
  private untilQuiet: NodeJS.Timeout | undefined;
  private stopped = false;
  private suspended = false;

  /** Policy of the merge that waits for a turn. */
  private wanted = chooseMerge;

  /** `quietMs`: time without a commit after which the list counts as quiet. */
  constructor(
    private readonly host: BackgroundHost,
    private readonly quietMs = QUIET_MS,
  ) {}

  /** True if a merge is in progress, or merging is suspended. */
  get isAtWork(): boolean {
    return this.running !== undefined || this.suspended;
  }

  /** Called once, when the list has been opened. */
  opened(): void {
    const { min, max } = QUIET_AT_START_MS;
    this.awaitQuiet(min + Math.random() * (max - min));
    this.start(chooseMerge);
  }

  /** Called after every commit. */
  committed(): void {
    this.awaitQuiet(this.quietMs);
    this.start(chooseMerge);
  }

  /** Starts a merge if there is something to merge and none is in progress. */
  private start(policy: typeof chooseMerge): void {
    if (this.stopped || this.suspended || this.running !== undefined || this.pause !== undefined) return;
    const next = this.choose(policy);
    if (next === undefined) return;
    this.wanted = policy;
    if (!this.host.mergeTurns.take(this.again)) return;
    this.running = this.run(next).finally(() => {
      this.running = undefined;
      this.host.mergeTurns.ended();
      this.start(chooseMerge);
    });
  }

  private readonly again = (): void => {
    this.start(this.wanted);
  };

  private awaitQuiet(milliseconds: number): void {
    clearTimeout(this.untilQuiet);
    if (this.stopped) return;
    this.untilQuiet = setTimeout(() => {
      // A merge in progress ends with a commit, which restarts the wait.
      this.start(chooseQuietMerge);
    }, milliseconds);
    this.untilQuiet.unref();
  }

  /**
   * Starts no merge until `resume`; resolves when none is in progress. Do not call it within a turn of the queue,
   * because a merge needs a turn to end.
   */
  async suspend(): Promise<void> {
    this.suspended = true;
    await this.running;
  }

  resume(): void {
    this.suspended = false;
    this.start(chooseMerge);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.host.mergeTurns.leave(this.again);
    clearTimeout(this.pause);
    clearTimeout(this.untilQuiet);
    if (this.running === undefined) return;
    await within(STOP_WAIT_MS, this.running);
  }

  private choose(policy: typeof chooseMerge): Merge | undefined {
    const state = this.host.state();
    const { merge_fan_in: fanIn, merge_records_max: recordsMax } = this.host.config.ingest;
    for (const version of [currentVersionOf(state), buildingVersionOf(state)]) {
      const published = version && this.host.published(version.version);
      if (version === undefined || published === undefined) continue;
      for (const part of INDEXES) {
        const sizes = published.sizesOf(part);
        const documentsMax = Math.min(recordsMax, affordableDocuments(sizes, this.host.budget.mergeBytesMax));
        const outweighsTimes = part === undefined ? 1 : PAGES_OUTWEIGH_TIMES;
        const bounds: QuietMergePolicy = { fanIn, documentsMax, outweighsTimes };
        const ids = policy(sizes, bounds);
        if (ids.length > 0) return { version, part, ids };
      }
    }
    return undefined;
  }

  /** Never rejects. */
  private async run(merge: Merge): Promise<void> {
    const { version } = merge;
    try {
      await this.merge(merge);
    } catch (error) {
      if (this.stopped) return;
      this.host.log.warn(
        { list: this.host.listPath, version: version.version, err: error },
        'a merge failed and is tried again later',
      );
      this.pause = setTimeout(() => {
        this.pause = undefined;
        this.start(chooseMerge);
      }, RETRY_PAUSE_MS);
      this.pause.unref();
    }
  }

  /** The lease keeps the sources open until the merge is in force, whatever happens to the version meanwhile. */
  private async merge(merge: Merge): Promise<void> {
    const { version, definition } = merge.version;
    await this.host.published(version)?.withLease(definition, (lease) => this.mergeLeased(lease, merge));
  }

  private async mergeLeased(lease: VersionLease, { part, ids }: Merge): Promise<void> {
    const { host } = this;
    const { version, definition } = lease;
    const newSegment = host.newSegment();
    let merged: MergedSegment | undefined;
    try {
      const wanted = new Set(ids);
      const index = indexOf(lease, part);
      if (index === undefined) return;
      const sources = index.segments.filter(({ id }) => wanted.has(id)).map(({ handle }) => handle);
      const sizes =
        host
          .published(version)
          ?.sizesOf(part)
          .filter(({ id }) => wanted.has(id)) ?? [];
      const holdsBytes = sizes.reduce((sum, size) => sum + mergeBytes(size), 0);
      const task = { listPath: host.listPath, part, definition, newSegment, holdsBytes };
      merged = await host.run({ kind: 'merge', ...task, generation: index.handle, sources });
      const committed = await host.between(() => this.commit({ lease, part, ids: wanted, merged, newSegment }));
      if (!committed) await this.discard({ version, newSegment, merged });
    } catch (error) {
      await this.discard({ version, newSegment, merged }, error);
      throw error;
    }
  }

  /** Returns false if the version or a source is gone. */
  private async commit(work: FinishedMerge): Promise<boolean> {
    const { version, definition } = work.lease;
    const published = this.host.published(version);
    if (published === undefined || this.stopped) return false;
    return published.withLease(definition, (now) => this.commitLeased(work, now));
  }

  private async commitLeased(work: FinishedMerge, now: VersionLease): Promise<boolean> {
    const { host } = this;
    const { part, ids, merged, newSegment } = work;
    const [before, after] = [indexOf(work.lease, part), indexOf(now, part)];
    if (before === undefined || after === undefined) return false;
    const sources = after.segments.filter(({ id }) => ids.has(id));
    if (sources.length < ids.size) return false;
    const { commit } = await host.runCommit({
      kind: 'commit-merge',
      listPath: host.listPath,
      nowMs: host.clock.nowMs(),
      version: now.version,
      part,
      before: before.handle,
      now: after.handle,
      sources,
      merged: merged && { id: newSegment, ...merged },
    });
    host.publishCommit(commit);
    return true;
  }

  private async discard({ version, newSegment, merged }: MadeSegment, failure?: unknown): Promise<void> {
    const { host } = this;
    if (merged !== undefined) host.kernel.closeSegment(merged.handle);
    const published = host.published(version);
    // After a worker's death the store may name the segment all the same: then it is in force, or known when the list
    // is next opened.
    const mayBeNamed = failure instanceof ServiceError && failure.code === 'internal-error';
    if (published === undefined ? mayBeNamed : published.hasSegment(newSegment)) return;
    await rm(segmentFile(host.listPath, newSegment), { force: true });
  }
}

/** Returns how many documents of the segments' average size a merge has the memory for. */
function affordableDocuments(sizes: PublishedVersion['sizes'], bytesMax: number): number {
  const documents = sizes.reduce((sum, { documentCount }) => sum + documentCount, 0);
  const bytes = sizes.reduce((sum, size) => sum + mergeBytes(size), 0);
  return documents === 0 ? Infinity : Math.floor((bytesMax * documents) / bytes);
}
