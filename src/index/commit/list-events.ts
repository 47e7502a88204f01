/**
 * Events of a list's commits: which ones are wanted, notifying the sink of new ones, and the events of bulk calls that
 * did not end.
 */
import { basename } from 'node:path';
import { FIRST_OUTBOX_ROW, noEventSink, type EventSink, type OutboxSource } from '../../platform/index.js';
import type { ListState } from '../../store/index.js';
import type { EventTask } from '../contract/ingest-tasks.js';

export interface ListEventsOptions {
  readonly listPath: string;
  readonly sink: EventSink | undefined;
  readonly state: () => ListState;
  /** Current names of the account and the list, which events carry. */
  readonly names: () => { readonly account: string; readonly list: string };
  /** Commits the events of bulk calls that have none yet, in a turn of the list's queue. */
  readonly commitImports: (untold: () => readonly string[]) => Promise<void>;
  /** Called when an event could not be written and is left for later. */
  readonly onLater: (error: unknown) => void;
}

export class ListEvents {
  /** Source of the events; identified by the list's id. */
  readonly source: OutboxSource;
  private readonly sink: EventSink;

  constructor(private readonly options: ListEventsOptions) {
    this.sink = options.sink ?? noEventSink;
    this.source = { id: basename(options.listPath), kind: 'list', path: options.listPath };
  }

  /** Returns what a commit needs to write events; undefined if nobody listens and nobody ever did. */
  task(): EventTask | undefined {
    const { account, list } = this.options.names();
    const wanted = this.sink.wanted(account);
    if (wanted.length === 0 && this.options.state().events === undefined) return undefined;
    const removableTo = this.sink.removableTo(this.source.id);
    return { account, list, wanted, removableTo, notBeforeMs: this.sink.eventTime(account, 0) };
  }

  /** Notifies the sink of the rows that a commit has added. */
  committed(before: ListState, after: ListState): void {
    const rows = (after.events?.nextRow ?? FIRST_OUTBOX_ROW) - (before.events?.nextRow ?? FIRST_OUTBOX_ROW);
    if (rows > 0) this.sink.written(this.source, rows);
  }

  /** True if all events have reached the sink's queue and no bulk call is without its event. */
  get areTold(): boolean {
    const { events } = this.options.state();
    if (events === undefined) return true;
    const lastRow = events.nextRow - 1;
    return Object.keys(events.imports).length === 0 && (lastRow === 0 || this.sink.movedTo(this.source.id) >= lastRow);
  }

  /**
   * Resumes after the list was opened: notifies the sink, and writes the events of bulk calls that a crash interrupted.
   */
  resume(): void {
    const { events } = this.options.state();
    if (events === undefined) return;
    this.sink.written(this.source, 0);
    void this.reportImports(Object.keys(events.imports));
  }

  /**
   * Writes the events of bulk calls that ended without a final batch. Never rejects: after a failure, they are written
   * when the list is next opened.
   */
  async reportImports(importIds: readonly string[]): Promise<void> {
    const untold = () => importIds.filter((id) => this.options.state().events?.imports[id] !== undefined);
    if (untold().length === 0) return;
    try {
      await this.options.commitImports(untold);
    } catch (error) {
      this.options.onLater(error);
    }
  }
}
