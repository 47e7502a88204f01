/** What a list's commits tell to the outside: which events are wanted, that some were written, and those of bulk calls without an end. */
import { basename } from 'node:path';
import { FIRST_OUTBOX_ROW, noEventSink, type EventSink, type OutboxSource } from '../../platform/index.js';
import type { ListState } from '../../store/index.js';
import type { EventTask } from '../contract/ingest-tasks.js';

export interface ListEventsOptions {
  readonly listPath: string;
  readonly sink: EventSink | undefined;
  readonly state: () => ListState;
  /** The names that events carry. */
  readonly names: () => { readonly account: string; readonly list: string };
  /** Commits what of these bulk calls is still to be told, in a turn of the list's queue. */
  readonly commitImports: (untold: () => readonly string[]) => Promise<void>;
  /** Told when an event is left for later. */
  readonly onLater: (error: unknown) => void;
}

export class ListEvents {
  /** The list's id, by which others name it. */
  readonly source: OutboxSource;
  private readonly sink: EventSink;

  constructor(private readonly options: ListEventsOptions) {
    this.sink = options.sink ?? noEventSink;
    this.source = { id: basename(options.listPath), kind: 'list', path: options.listPath };
  }

  /** What a commit is told of events; undefined where nobody wants any and none was ever wanted. */
  task(): EventTask | undefined {
    const { account, list } = this.options.names();
    const wanted = this.sink.wanted(account);
    if (wanted.length === 0 && this.options.state().events === undefined) return undefined;
    const removableTo = this.sink.removableTo(this.source.id);
    return { account, list, wanted, removableTo, notBeforeMs: this.sink.eventTime(account, 0) };
  }

  /** A commit took the list from one state to another. */
  committed(before: ListState, after: ListState): void {
    const rows = (after.events?.nextRow ?? FIRST_OUTBOX_ROW) - (before.events?.nextRow ?? FIRST_OUTBOX_ROW);
    if (rows > 0) this.sink.written(this.source, rows);
  }

  /** True where whoever is to be told of something has it. */
  get areTold(): boolean {
    const { events } = this.options.state();
    if (events === undefined) return true;
    const lastRow = events.nextRow - 1;
    return Object.keys(events.imports).length === 0 && (lastRow === 0 || this.sink.movedTo(this.source.id) >= lastRow);
  }

  /** After the list was opened: what a crash kept from being told. */
  resume(): void {
    const { events } = this.options.state();
    if (events === undefined) return;
    this.sink.written(this.source, 0);
    void this.reportImports(Object.keys(events.imports));
  }

  /** Tells of bulk calls that ended without a final batch. Never rejects: what fails is told when the list is opened again. */
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
