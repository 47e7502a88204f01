/**
 * What one commit of a list has to tell, gathered before it is written. Where nobody listens it does nothing.
 *
 * Order of a commit: `prepare` (the part of the list's state that is about events), then `apply` inside the transaction that
 * also writes that state. Belongs to one task of one thread.
 */
import {
  asOutboxEvent,
  eventBody,
  FIRST_OUTBOX_ROW,
  subjectOf,
  type EventContent,
  type OutboxEvent,
} from '../../platform/index.js';
import type { RecordStore, StoredRecord } from '../../records/index.js';
import type { ImportCount, ListEventState } from '../../store/index.js';
import type { EventTask } from '../contract/ingest-tasks.js';

type RecordEventType = 'searchresult.created' | 'searchresult.updated' | 'searchresult.deleted';

const NO_EVENTS: ListEventState = { nextRow: FIRST_OUTBOX_ROW, imports: {} };

export class EventRecorder {
  private readonly events: OutboxEvent[] = [];
  private readonly wanted: ReadonlySet<string>;
  private readonly imports: Record<string, ImportCount>;
  private readonly atMs: number;
  private importEnded = false;
  private firstRow = FIRST_OUTBOX_ROW;

  /** `state`: what the list's state says of events so far. */
  constructor(
    private readonly task: EventTask | undefined,
    nowMs: number,
    private readonly state: ListEventState | undefined,
  ) {
    this.atMs = Math.max(nowMs, task?.notBeforeMs ?? 0);
    this.wanted = new Set(task?.wanted);
    this.imports = { ...state?.imports };
  }

  /** Something has to be written, also where no record changes. */
  get mustCommit(): boolean {
    return this.importEnded;
  }

  /** A record was written or removed by itself. The body is spliced from the record's stored fields. */
  record(type: RecordEventType, { id, name, fieldsJson }: StoredRecord, previousName?: string): void {
    if (this.task === undefined || !this.wanted.has(type)) return;
    const { account, list } = this.task;
    const previous = previousName === undefined ? '' : `,"previous_name":${JSON.stringify(previousName)}`;
    const body = eventBody(id, list, `{"name":${JSON.stringify(name)},"fields":${fieldsJson}${previous}}`);
    this.events.push({ account, type, subject: subjectOf(type, list, id), atMs: this.atMs, body });
  }

  /** Events that are made only where somebody listens. */
  recordWith(make: (list: string) => readonly EventContent[]): void {
    if (this.task === undefined || this.wanted.size === 0) return;
    const { account, list } = this.task;
    for (const content of make(list)) {
      if (this.wanted.has(content.type)) this.events.push(asOutboxEvent(account, content, this.atMs));
    }
  }

  /** Adds to what a bulk call has written so far. */
  countImport(importId: string, { created, updated }: ImportCount): void {
    const before = this.imports[importId];
    const isNew = before === undefined && this.wanted.has('searchresult.bulk-created') && created + updated > 0;
    if (before === undefined && !isNew) return;
    this.imports[importId] = { created: (before?.created ?? 0) + created, updated: (before?.updated ?? 0) + updated };
  }

  /** The bulk call is over: one event tells of it. */
  endImport(importId: string): void {
    const counted = this.imports[importId];
    if (counted === undefined) return;
    this.importEnded = true;
    Reflect.deleteProperty(this.imports, importId);
    const { created, updated } = counted;
    const data = { count: created + updated, created, updated };
    // A call has no id that another call could use; its event has none but that of its delivery.
    this.recordWith((list) => [{ type: 'searchresult.bulk-created', id: '', list, data }]);
  }

  /** The part of the list's next state, to be spread into it; opens what `apply` needs. */
  prepare(store: RecordStore): { readonly events?: ListEventState } {
    const isIdle = this.events.length === 0 && Object.keys(this.imports).length === 0;
    if (this.state === undefined && isIdle) return {};
    this.firstRow = (this.state ?? NO_EVENTS).nextRow;
    void store.outbox;
    return { events: { nextRow: this.firstRow + this.events.length, imports: this.imports } };
  }

  /** Inside the transaction. */
  apply(store: RecordStore): void {
    if (this.events.length > 0) store.outbox.append(this.firstRow, this.events);
    if (this.task !== undefined && this.task.removableTo > 0) store.outbox.removeMoved(this.task.removableTo);
  }
}
