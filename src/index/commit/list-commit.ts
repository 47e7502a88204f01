/**
 * One commit of a list. Applies writes to the current version and, while a version is being built, also to the part of
 * it that has been copied; then builds the segments and writes everything in one transaction.
 *
 * Writes of one commit see each other, in their order. A write that is refused throws and has no effect; the others
 * continue. Belongs to one task of one thread.
 */
import type { Kernel } from '../../../native-bindings/index.js';
import { fieldEvents, type FieldDefinition } from '../../catalog/index.js';
import { ServiceError, recordId, recordNumberOf } from '../../platform/index.js';
import {
  FieldNormaliser,
  decodeRecord,
  invalidRecord,
  isoTime,
  parseFields,
  recordResource,
  unknownId,
  validAsOf,
  validName,
  type FieldValue,
  type GivenVectors,
  type InferenceSample,
  type RecordStore,
  type StoredRecord,
} from '../../records/index.js';
import {
  buildingVersionOf,
  currentVersionOf,
  LIST_STATE_FORMAT_WITH_SHORT_RECORDS,
  type ImportCount,
  type ListState,
  type VersionState,
} from '../../store/index.js';
import { EventRecorder } from './event-recorder.js';
import { assertKeptLinks } from './kept-links.js';
import { linkCommit } from './link-commit.js';
import type { Commit, EventTask, IngestLimits, VersionView } from '../contract/ingest-tasks.js';
import type { WriteRequest, WriteResult } from '../contract/types.js';
import type { WrittenRecord } from './space-commit.js';
import { PartsCommit } from './part-commit.js';
import { pictureCommit } from './picture-commit.js';
import { assertItself, type FoundRecord } from './sent-back.js';
import { settledDefinition } from './settled-definition.js';
import { readKindsOf } from '../../extracts/index.js';
import { VectorCommit } from './vector-commit.js';
import { committed, VersionCommit } from './version-commit.js';

/** 2^32 - 1 means "none" in the kernel. */
const RECORD_NUMBER_MAX = 0xffff_fffe;

export interface ListCommitOptions {
  readonly kernel: Kernel;
  readonly store: RecordStore;
  readonly nowMs: number;
  readonly current: VersionView;
  readonly building: VersionView | undefined;
  readonly limits: IngestLimits;
  readonly events: EventTask | undefined;
  /** Returns the first records, from which a list without a definition infers one. */
  readonly samples: () => readonly InferenceSample[];
  /**
   * True if many records are expected: their segment is built while they are still being read. A caller that does not
   * commit must call `discard`.
   */
  readonly isLarge?: boolean;
  /** True if the writer has no access to media stores: records may keep the links into these that they have. */
  readonly keepsLinks?: boolean;
}

export interface PutInput {
  /**
   * Id of a record that was read and is sent back. Ignored for a record of a source, which is identified by its name
   * alone.
   */
  readonly id?: string | undefined;
  readonly name: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  /** True if the fields object also contains the record's name, which is not a field. */
  readonly flat: boolean;
  readonly asOfMs: number | undefined;
  readonly vectors: GivenVectors | undefined;
  /** Source that the record belongs to from now on. Undefined: the record keeps the source that it has. */
  readonly source?: string;
  /** As `ListCommitOptions.keepsLinks`, for this record. */
  readonly keepsLinks?: boolean;
}

export class ListCommit {
  private readonly state: ListState;
  /** The definition in force; just inferred if the list had none. */
  readonly definition: FieldDefinition;
  private readonly current: VersionCommit;
  private readonly normaliser: FieldNormaliser;
  private readonly building:
    { readonly writer: VersionCommit; readonly normaliser: FieldNormaliser; readonly cursor: number } | undefined;
  private readonly events: EventRecorder;
  private readonly vectors: VectorCommit;
  private readonly parts: PartsCommit;
  private nextRecordNumber: number;
  private isOnDisk = false;

  constructor(private readonly options: ListCommitOptions) {
    const state = options.store.state();
    if (state === undefined) throw new Error(`${options.store.listPath} has no list`);
    this.state = state;
    this.nextRecordNumber = state.nextRecordNumber;
    const currentState = currentVersionOf(state);
    this.definition = settledDefinition(currentState.definition, options.samples);
    this.normaliser = new FieldNormaliser(this.definition);
    this.events = new EventRecorder(options.events, options.nowMs, state.events);
    this.vectors = new VectorCommit({ ...options, meaning: state.meaning });
    this.parts = new PartsCommit({ ...options, state });
    this.current = this.versionWriter(options.current, this.definition);
    const buildingState = buildingVersionOf(state);
    if (options.building !== undefined && buildingState !== undefined) {
      const { definition, renames, buildCursor } = buildingState;
      this.building = {
        writer: this.versionWriter(options.building, definition),
        normaliser: new FieldNormaliser(definition, { from: this.definition, renames }),
        cursor: buildCursor,
      };
    }
  }

  private versionWriter(view: VersionView, definition: FieldDefinition): VersionCommit {
    const { kernel, store, nowMs, isLarge = false } = this.options;
    const firstNewRecord = this.state.nextRecordNumber;
    const versions = this.state.versions.map(({ version }) => version);
    const kinds = readKindsOf(this.state);
    return new VersionCommit({
      kernel,
      store: store.version(view.version),
      listPath: store.listPath,
      view,
      definition,
      firstNewRecord,
      isLarge,
      vectors: this.vectors.ofVersion(view, definition, firstNewRecord),
      links: linkCommit({ store, version: view.version, versions, definition, kinds, nowMs, firstNewRecord }),
      pages: this.parts.ofVersion(view, definition, firstNewRecord),
      pictures: pictureCommit({ kernel, store, view, definition, pictures: this.state.pictures, firstNewRecord }),
    });
  }

  /**
   * Adds a record, or replaces the one with its name. Throws `invalid-record`, or `conflict` if the id is that of
   * another record.
   */
  put(input: PutInput): { readonly outcome: 'created' | 'updated'; readonly stored: StoredRecord } {
    const { fields, fieldsJson, existing } = this.read(input);
    this.vectors.accept(input.vectors);
    // A replacement has only the vectors that came with it.
    const vectors = input.vectors ?? null;
    if (existing !== undefined) {
      const { recordNumber, previous } = existing;
      const stored = { ...this.replacement(previous, previous.name, input.asOfMs, fieldsJson), ...sourceOf(input) };
      this.write(recordNumber, { stored, fields, vectors }, previous.name);
      return { outcome: 'updated', stored };
    }
    const recordNumber = this.newRecordNumber();
    const stored = this.addition(recordNumber, input, fieldsJson);
    this.write(recordNumber, { stored, fields, vectors }, undefined);
    return { outcome: 'created', stored };
  }

  /** As `put`, for a record of a source. A record that is already stored as its source has it is not written. */
  putFromSource(input: PutInput & { readonly name: string; readonly source: string }) {
    const { fieldsJson, existing } = this.read(input);
    const isSame =
      existing?.previous.fieldsJson === fieldsJson &&
      existing.previous.source === input.source &&
      input.vectors === undefined;
    return isSame ? 'unchanged' : this.put(input).outcome;
  }

  /** Sets the given fields of the record with this name, and removes those that are null. Throws `record-not-found`. */
  patchNamed(input: PutInput): void {
    const { name } = input;
    if (name === undefined)
      throw invalidRecord('name', 'A record that changes another one has its name, by which that is known.');
    const recordNumber = this.numberOf(name);
    if (recordNumber === undefined)
      throw new ServiceError('record-not-found', 'The list has no record of this name to change.');
    const previous = this.stored(recordNumber);
    if (input.id !== undefined) assertItself(input, previous, () => this.found(input.id)?.previous);
    const fields = this.patchedFields(previous, input);
    if ((input.keepsLinks ?? this.options.keepsLinks) === true) assertKeptLinks(fields, previous);
    const stored = this.replacement(previous, name, input.asOfMs, this.checkedJson(fields));
    this.vectors.accept(input.vectors);
    this.write(recordNumber, { stored, fields, vectors: input.vectors }, name);
  }

  /** Returns the number of the record with this name; undefined if there is none. */
  numberOf(name: string): number | undefined {
    return this.current.recordNumberOfName(name);
  }

  /** Applies one small write. Throws the record's own ServiceError. */
  apply(request: WriteRequest): WriteResult {
    switch (request.kind) {
      case 'put': {
        const input = {
          id: request.id,
          name: validName(request.name),
          fields: request.fields,
          flat: false,
          asOfMs: validAsOf(request.asOf),
          vectors: request.vectors,
          keepsLinks: request.keepsLinks === true,
        };
        const { outcome, stored } = this.put(input);
        this.events.record(`searchresult.${outcome}`, stored);
        return { outcome, record: recordResource(stored) };
      }
      case 'replace': {
        const fields = this.normaliser.normalise(request.fields, false);
        return this.update(request, fields);
      }
      case 'patch': {
        const { fields } = request;
        return this.update(request, this.patchedFields(this.byId(request).previous, { fields, flat: false }));
      }
      case 'delete': {
        const { recordNumber, previous } = this.byId(request);
        this.removeRecord(recordNumber, previous);
        return { outcome: 'deleted', record: recordResource(previous) };
      }
    }
  }

  /** Returns false if there is no such record. */
  removeByNumber(recordNumber: number): boolean {
    const bytes = this.current.record(recordNumber);
    if (bytes === undefined) return false;
    this.removeRecord(recordNumber, decodeRecord(bytes));
    return true;
  }

  /**
   * Counts the records that a batch of a bulk call has written. The call has one event, which its last batch records.
   */
  countImport(importId: string, written: ImportCount, final: boolean): void {
    this.events.countImport(importId, written);
    if (final) this.events.endImport(importId);
  }

  /**
   * Writes everything and returns the changes, which are on disk; undefined if there was nothing to write. If it
   * throws, nothing is changed. `rest` is called between the steps.
   */
  commit(rest = () => {}): Commit | undefined {
    if (!this.current.changed && !this.events.mustCommit) return undefined;
    const { store } = this.options;
    this.recordInferredFields();
    const writers = [
      ...(this.current.changed ? [this.current] : []),
      ...(this.building?.writer.changed === true ? [this.building.writer] : []),
    ];
    const state: ListState = {
      ...this.state,
      sequence: this.state.sequence + 1,
      nextRecordNumber: this.nextRecordNumber,
      versions: this.state.versions.map((version) => this.versionAfter(version)),
      ...this.events.prepare(store),
      ...this.vectors.statePart,
      ...this.parts.statePart,
    };
    try {
      for (const writer of writers) writer.buildSegment();
      rest();
      store.transaction(() => {
        store.assertStateIs(this.state);
        for (const writer of writers) writer.apply();
        if (writers.length > 0) store.raiseFormat(LIST_STATE_FORMAT_WITH_SHORT_RECORDS);
        this.events.apply(store);
        store.putState(state);
      });
    } catch (error) {
      for (const writer of writers) writer.discard();
      throw store.asWriteError(error);
    }
    this.isOnDisk = true;
    return committed(state, writers);
  }

  /**
   * Removes the files of a commit that is not going to be written. Does nothing after a commit: its manifest names the
   * files.
   */
  discard(): void {
    if (this.isOnDisk) return;
    this.current.discard();
    this.building?.writer.discard();
  }

  private versionAfter(version: VersionState): VersionState {
    return version.version === this.state.currentVersion ? { ...version, definition: this.definition } : version;
  }

  private patchedFields(
    { fieldsJson }: StoredRecord,
    { fields: given, flat }: Pick<PutInput, 'fields' | 'flat'>,
  ): Record<string, FieldValue> {
    const changes = this.normaliser.normalise(given, flat);
    const fields: Record<string, FieldValue> = parseFields(fieldsJson);
    for (const field of Object.keys(given)) if (!flat || field !== 'name') Reflect.deleteProperty(fields, field);
    return Object.assign(fields, changes);
  }

  private update(
    request: Extract<WriteRequest, { kind: 'replace' | 'patch' }>,
    fields: Record<string, FieldValue>,
  ): WriteResult {
    const { recordNumber, previous } = this.byId(request);
    const name = validName(request.name) ?? previous.name;
    const owner = name === previous.name ? recordNumber : this.current.recordNumberOfName(name);
    if (owner !== undefined && owner !== recordNumber) {
      throw new ServiceError('name-exists', 'The list already has another record with this name.');
    }
    if (request.keepsLinks === true) assertKeptLinks(fields, previous);
    const stored = this.replacement(previous, name, validAsOf(request.asOf), this.checkedJson(fields));
    this.vectors.accept(request.vectors);
    const vectors = request.kind === 'replace' ? (request.vectors ?? null) : request.vectors;
    this.write(recordNumber, { stored, fields, vectors }, previous.name);
    this.events.record('searchresult.updated', stored, name === previous.name ? undefined : previous.name);
    return { outcome: 'updated', record: recordResource(stored) };
  }

  private read(input: PutInput) {
    const fields = this.normaliser.normalise(input.fields, input.flat);
    const fieldsJson = this.checkedJson(fields);
    const recordNumber = input.name === undefined ? undefined : this.numberOf(input.name);
    const existing = recordNumber === undefined ? undefined : { recordNumber, previous: this.stored(recordNumber) };
    if (input.source === undefined && input.id !== undefined)
      assertItself(input, existing?.previous, () => this.found(input.id)?.previous);
    if ((input.keepsLinks ?? this.options.keepsLinks) === true) assertKeptLinks(fields, existing?.previous);
    return { fields, fieldsJson, existing };
  }

  private recordInferredFields(): void {
    const before = currentVersionOf(this.state).definition;
    if (before === this.definition) return;
    this.events.recordWith((list) => fieldEvents(list, before, this.definition));
  }

  private newRecordNumber(): number {
    const { newRecordsMax = Infinity } = this.options.limits;
    if (this.nextRecordNumber - this.state.nextRecordNumber >= newRecordsMax) {
      throw new ServiceError('plan-limit', 'The plan of the account has no room for another record.');
    }
    if (this.nextRecordNumber > RECORD_NUMBER_MAX) {
      throw new ServiceError(
        'unprocessable',
        'The list has used all its record numbers. Export it, and import it into a new list.',
      );
    }
    this.nextRecordNumber += 1;
    return this.nextRecordNumber - 1;
  }

  private addition(recordNumber: number, input: PutInput, fieldsJson: string): StoredRecord {
    const { nowMs } = this.options;
    const id = recordId(recordNumber, nowMs);
    return {
      id,
      name: input.name ?? id,
      nameGenerated: input.name === undefined,
      asOf: isoTime(input.asOfMs ?? nowMs),
      ...sourceOf(input),
      createdMs: nowMs,
      modifiedMs: nowMs,
      fieldsJson,
    };
  }

  private replacement(
    previous: StoredRecord,
    name: string,
    asOfMs: number | undefined,
    fieldsJson: string,
  ): StoredRecord {
    const { nowMs } = this.options;
    return {
      ...previous,
      name,
      nameGenerated: previous.nameGenerated && name === previous.name,
      asOf: isoTime(asOfMs ?? nowMs),
      modifiedMs: nowMs,
      fieldsJson,
    };
  }

  private write(recordNumber: number, written: WrittenRecord, previousName: string | undefined): void {
    this.current.put(recordNumber, written, previousName);
    const { building } = this;
    if (building !== undefined && recordNumber < building.cursor) {
      const fields = building.normaliser.normalise(written.fields, false);
      const stored = { ...written.stored, fieldsJson: JSON.stringify(fields) };
      building.writer.put(recordNumber, { ...written, stored, fields }, previousName);
    }
  }

  private removeRecord(recordNumber: number, previous: StoredRecord): void {
    this.current.remove(recordNumber, previous.name);
    if (this.building !== undefined && recordNumber < this.building.cursor)
      this.building.writer.remove(recordNumber, previous.name);
    this.events.record('searchresult.deleted', previous);
  }

  private stored(recordNumber: number): StoredRecord {
    const bytes = this.current.record(recordNumber);
    if (bytes === undefined) throw new Error(`the names know record ${recordNumber}, the records do not`);
    return decodeRecord(bytes);
  }

  private byId({ id, reads }: Pick<Extract<WriteRequest, { kind: 'delete' }>, 'id' | 'reads'>): FoundRecord {
    const found = this.found(id);
    if (found !== undefined) return found;
    throw unknownId(reads === true ? this.current : undefined, id, 'There is no record with this id in the list');
  }

  private found(id = ''): FoundRecord | undefined {
    const recordNumber = recordNumberOf(id);
    const bytes = recordNumber === undefined ? undefined : this.current.record(recordNumber);
    const previous = bytes === undefined ? undefined : decodeRecord(bytes);
    return recordNumber === undefined || previous?.id !== id ? undefined : { recordNumber, previous };
  }

  private checkedJson(fields: Readonly<Record<string, FieldValue>>): string {
    const json = JSON.stringify(fields);
    const { recordBytesMax } = this.options.limits;
    // A UTF-16 unit takes at most three bytes, so short texts need not be counted.
    if (json.length * 3 > recordBytesMax && Buffer.byteLength(json) > recordBytesMax) {
      throw invalidRecord(undefined, `The record has more than ${recordBytesMax} bytes.`);
    }
    return json;
  }
}

function sourceOf({ source }: PutInput): { readonly source?: string } {
  return source === undefined ? {} : { source };
}
