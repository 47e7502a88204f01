/**
 * Background work of one open list: merging, building versions, reindexing, embedding, reading files. Main thread only.
 */
import type { FieldDefinition } from '../../catalog/index.js';
import type { ServiceError } from '../../platform/index.js';
import type { Commit } from '../contract/ingest-tasks.js';
import { ListMeaning, type ListMeaningOptions } from '../meaning/list-meaning.js';
import { BackgroundMerger } from '../merge/background-merger.js';
import { OpenListReindexer } from '../reindex/open-list-reindexer.js';
import { ListResources, type ListResourcesOptions } from '../resources/list-resources.js';
import { NextVersionBuilder } from '../versions/next-version-builder.js';

export type ListBackgroundOptions = ListMeaningOptions & ListResourcesOptions;

export class ListBackground {
  readonly meaning: ListMeaning;
  readonly files: ListResources;
  private readonly merger: BackgroundMerger;
  private readonly builder: NextVersionBuilder;
  private readonly reindexer: OpenListReindexer;

  constructor(options: ListBackgroundOptions) {
    const { host, quietMs } = options;
    this.merger = new BackgroundMerger(host, quietMs);
    this.builder = new NextVersionBuilder(host);
    this.reindexer = new OpenListReindexer(host, this.merger);
    this.meaning = new ListMeaning(options);
    this.files = new ListResources(options);
  }

  /** Resumes what a crash interrupted. */
  opened(): void {
    this.builder.resume();
    this.merger.opened();
    this.meaning.opened();
    this.files.committed();
  }

  /** Publishes a commit, and notifies the background work before and after that. */
  published(commit: Commit, publish: () => void): void {
    this.meaning.noted(commit);
    publish();
    this.merger.committed();
    this.reopened();
  }

  /** Notifies the background work that the list's state has changed. */
  reopened(): void {
    this.meaning.committed();
    this.files.committed();
  }

  /** Delays an import's write while the graphs of vectors are far behind. */
  async whenRoom<Result>(write: () => Promise<Result>): Promise<Result> {
    await this.meaning.roomForImport();
    return write();
  }

  changeDefinition(definition: FieldDefinition, renames: Readonly<Record<string, string>>): Promise<number> {
    return this.builder.start(definition, renames);
  }

  reindex(): Promise<number> {
    return this.reindexer.reindex();
  }

  /** Time until which nothing has to be done: 0 if something is in progress, Infinity if nothing is scheduled. */
  get restsUntilMs(): number {
    if ([this.merger, this.builder, this.reindexer].some((each) => each.isAtWork)) return 0;
    return Math.min(this.meaning.restsUntilMs, this.files.restsUntilMs);
  }

  /** True if nothing is left to be done later. */
  get isComplete(): boolean {
    return this.restsUntilMs === Infinity && this.meaning.isComplete && this.files.isComplete;
  }

  /** Stops the work while writes are still accepted. Call `stopped` when they no longer are. */
  async stop(reason: ServiceError): Promise<void> {
    this.builder.stop();
    await this.reindexer.stop(reason);
    await this.merger.stop();
    await this.meaning.stop();
    await this.files.stop();
  }

  stopped(): Promise<void> {
    return this.builder.stopped();
  }
}
