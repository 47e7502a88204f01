/**
 * Rebuilds the index of an open list on demand. New segments are built while the list is written and searches use the
 * old ones, and one commit in the list's queue puts them in force. Merging is suspended meanwhile, so that what was
 * written since can be told from its segments. Main thread only.
 */
import { beforeEndOf, ServiceError } from '../../platform/index.js';
import type { BackgroundHost } from '../versions/background-host.js';
import type { BackgroundMerger } from '../merge/background-merger.js';
import type { BuiltSegment } from '../contract/ingest-tasks.js';
import { partOf, type PartName } from '../../store/index.js';
import { indexOf, type VersionLease } from '../versions/published-generation.js';
import { discardSegments, remakeSegments } from './segment-remaking.js';

interface FinishedReindexing {
  readonly part: PartName | undefined;
  /** Lease on the generation at the beginning, whose segments are replaced. */
  readonly lease: VersionLease;
  readonly segments: readonly BuiltSegment[];
}

export class OpenListReindexer {
  private readonly abort = new AbortController();
  private running: Promise<number> | undefined;

  constructor(
    private readonly host: BackgroundHost,
    private readonly merger: BackgroundMerger,
  ) {}

  /**
   * Rebuilds all versions, one after the other; returns the number of records that were read. Rejects with
   * `conflict` if a rebuild is in progress.
   */
  async reindex(): Promise<number> {
    if (this.running !== undefined)
      throw new ServiceError('conflict', 'The index of this list is already being rebuilt.');
    this.running = this.run();
    try {
      return await this.running;
    } finally {
      this.running = undefined;
    }
  }

  get isAtWork(): boolean {
    return this.running !== undefined;
  }

  /** Stops between two pieces. */
  async stop(reason: ServiceError): Promise<void> {
    this.abort.abort(reason);
    await this.running?.catch(() => undefined);
  }

  private async run(): Promise<number> {
    const { host } = this;
    const begin = performance.now();
    let records = 0;
    try {
      // A merge may take minutes, for which a stop does not wait.
      await beforeEndOf(this.abort.signal, this.merger.suspend());
      for (const { version } of host.state().versions) {
        records += await this.index(version, undefined);
        if (partOf(host.state(), version, 'pages') !== undefined) await this.index(version, 'pages');
      }
    } finally {
      this.merger.resume();
    }
    const seconds = Math.round(performance.now() - begin) / 1000;
    host.log.info({ list: host.listPath, records, seconds }, "A list's index was rebuilt while it was open");
    return records;
  }

  /** Returns the number of documents indexed. A version that is dropped meanwhile is skipped. */
  private async index(version: number, part: PartName | undefined): Promise<number> {
    const { host } = this;
    const { listPath } = host;
    let records = 0;
    const lease = await host.exclusive(() => Promise.resolve(this.begin(version)));
    if (lease === undefined) return 0;
    try {
      const segments = await remakeSegments({
        run: (task, options) => host.run(task, options),
        listPath,
        version,
        part,
        signal: this.abort.signal,
        newSegment: () => host.newSegment(),
        budget: host.budget,
        log: host.log,
        onRecords: (count) => {
          records += count;
        },
      });
      const work = { lease, part, segments };
      const committed = await host
        .exclusive(() => this.commit(work))
        .catch(async (error: unknown) => {
          // After `internal-error` the commit may be on disk; files that are in no manifest are removed when the list
          // is next opened.
          if (error instanceof ServiceError && error.code !== 'internal-error')
            await discardSegments(listPath, segments);
          throw error;
        });
      if (!committed) await discardSegments(listPath, segments);
    } catch (error) {
      if (host.published(version) !== undefined) throw error;
    } finally {
      lease.release();
    }
    return records;
  }

  /** Call it between two commits, when the segments in the manifest contain exactly the stored records. */
  private begin(version: number): VersionLease | undefined {
    const definition = this.host.state().versions.find((candidate) => candidate.version === version)?.definition;
    return definition && this.host.published(version)?.lease(definition);
  }

  /** Returns false if the version is gone or its segments have changed, for example after a worker's death. */
  private async commit(work: FinishedReindexing): Promise<boolean> {
    const { version, definition } = work.lease;
    const published = this.host.published(version);
    return published === undefined ? false : published.withLease(definition, (now) => this.commitLeased(work, now));
  }

  private async commitLeased(work: FinishedReindexing, now: VersionLease): Promise<boolean> {
    const { host } = this;
    const [before, after] = [indexOf(work.lease, work.part), indexOf(now, work.part)];
    if (before === undefined || after === undefined) return false;
    const replaced = new Set(before.segments.map(({ id }) => id));
    const sources = after.segments.filter(({ id }) => replaced.has(id));
    if (sources.length < replaced.size) return false;
    const others = after.segments.filter(({ id }) => !replaced.has(id)).map(({ handle }) => handle);
    const { commit } = await host.runCommit({
      kind: 'commit-reindex',
      listPath: host.listPath,
      version: now.version,
      part: work.part,
      segments: work.segments,
      open: { before: before.handle, now: after.handle, sources, others },
    });
    host.publishCommit(commit);
    return true;
  }
}
