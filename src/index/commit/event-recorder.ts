/**
 * Collects the events of one commit of a list before it is written. Does nothing if nobody listens.
 *
 * Order of a commit: `prepare` (returns the events' part of the list's state), then `apply` inside the transaction that
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

  /** `state`: the events' part of the list's state before the commit. */
  constructor(
    private readonly task: EventTask | undefined,
    nowMs: number,
    private readonly state: ListEventState | undefined,
  ) {
    this.atMs = Math.max(nowMs, task?.notBeforeMs ?? 0);
    this.wanted = new Set(task?.wanted);
    this.imports = { ...state?.imports };
  }

  /** True if the commit has to be written even if no record changes. */
  get mustCommit(): boolean {
    return this.importEnded;
  }

  /**
   * Records the event of a single record that was written or removed. The body is spliced from the record's stored
   * fields.
   */
  record(type: RecordEventType, { id, name, fieldsJson }: StoredRecord, previousName?: string): void {
    if (this.task === undefined || !this.wanted.has(type)) return;
    const { account, list } = this.task;
    const previous = previousName === undefined ? '' : `,"previous_name":${JSON.stringify(previousName)}`;
    const body = eventBody(id, list, `{"name":${JSON.stringify(name)},"fields":${fieldsJson}${previous}}`);
    this.events.push({ account, type, subject: subjectOf(type, list, id), atMs: this.atMs, body });
  }

  /** Records events that are only created if somebody listens. */
  recordWith(make: (list: string) => readonly EventContent[]): void {
    if (this.task === undefined || this.wanted.size === 0) return;
    const { account, list } = this.task;
    for (const content of make(list)) {
      if (this.wanted.has(content.type)) this.events.push(asOutboxEvent(account, content, this.atMs));
    }
  }

  /** Adds to the numbers of records that a bulk call has written so far. */
  countImport(importId: string, { created, updated }: ImportCount): void {
    const before = this.imports[importId];
    const isNew = before === undefined && this.wanted.has('searchresult.bulk-created') && created + updated > 0;
    if (before === undefined && !isNew) return;
    this.imports[importId] = { created: (before?.created ?? 0) + created, updated: (before?.updated ?? 0) + updated };
  }

  /** Ends a bulk call and records its one event. */
  endImport(importId: string): void {
    const counted = this.imports[importId];
    if (counted === undefined) return;
    this.importEnded = true;
    Reflect.deleteProperty(this.imports, importId);
    const { created, updated } = counted;
    const data = { count: created + updated, created, updated };
    // A bulk call has no id that another call could use, so its event has no subject id; only its delivery has an id.
    this.recordWith((list) => [{ type: 'searchresult.bulk-created', id: '', list, data }]);
  }

  /** Returns the events' part of the list's next state, to be spread into it. Opens the outbox that `apply` needs. */
  prepare(store: RecordStore): { readonly events?: ListEventState } {
    const isIdle = this.events.length === 0 && Object.keys(this.imports).length === 0;
    if (this.state === undefined && isIdle) return {};
    this.firstRow = (this.state ?? NO_EVENTS).nextRow;
    void store.outbox;
    return { events: { nextRow: this.firstRow + this.events.length, imports: this.imports } };
  }

  /** Writes the events, and removes some of the rows that are no longer needed. Call it inside the transaction. */
  apply(store: RecordStore): void {
    if (this.events.length > 0) store.outbox.append(this.firstRow, this.events);
    if (this.task !== undefined && this.task.removableTo > 0) store.outbox.removeMoved(this.task.removableTo);
  }
}
