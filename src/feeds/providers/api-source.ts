/**
 * An interface that answers JSON, as a source. All of its pages are read, or, if it can tell what has changed, only
 * those with something new.
 */
import { createHash } from 'node:crypto';
import { FIELDS_PER_LIST_MAX, type Secret } from '../../platform/index.js';
import type { OutboundClient, OutboundResponse } from '../../platform/outbound/outbound-client.js';
import { OutboundFailedError } from '../../platform/outbound/outbound-client.js';
import { OutboundRefusedError } from '../../platform/index.js';
import type { FeedSource } from '../file/sync-run.js';
import type { FieldDescriptions } from '../file/sync-file.js';
import { readJsonBody } from '../json/json-body.js';
import { allFields, FIELDS_MAX, isMemberName, mappedFields, withoutRecordName } from '../json/json-fields.js';
import { JsonPath, type JsonValue } from '../json/json-path.js';
import { Pagination, type PaginationSettings } from '../json/pagination.js';
import { seenFor } from '../runs/time-seen.js';
import { SourceFailedError, type FieldValue, type SourceListener, type SourceOutcome } from '../source/source-run.js';
import { Slices } from '../text/slices.js';
import { FieldKinds, type KnownKinds } from './field-kinds.js';

export interface ApiSettings {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** Sent as JSON. */
  readonly body?: JsonValue;
  /** Path to the records. It leads to a record or to an array of records. */
  readonly records: string;
  readonly name: string;
  /** Paths of the fields, by name. If undefined, everything that can be a field is taken. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly pagination: PaginationSettings;
  /**
   * For an interface that can give what has changed since a moment (inclusive). Every `full_every`th run reads
   * everything, and so notices what is gone.
   */
  readonly updated_since?: { readonly parameter: string; readonly full_every: number };
}

/** What is kept between two runs. */
export interface ApiMemory {
  /** When the last run began, in ISO 8601. */
  readonly since: string;
  /** Number of runs since everything was read. */
  readonly partialRuns: number;
  /** What is known of the fields of all records. Missing if an earlier release kept this. */
  readonly kinds?: KnownKinds;
  /** Number of records without a name that the source is known to have. */
  readonly nameless?: number;
  /** Since when there have been more of them, in ISO 8601. */
  readonly moreNamelessSince?: string;
  /** For how long this has been observed. Missing if an earlier release began to count. */
  readonly moreNamelessMs?: number;
}

export interface ApiMemoryStore {
  read(): ApiMemory | undefined;
  write(memory: ApiMemory): Promise<void>;
}

export interface ApiSourceOptions {
  readonly settings: ApiSettings;
  readonly authHeader?: { readonly name: string; readonly value: Secret };
  readonly client: OutboundClient;
  readonly memory: ApiMemoryStore;
  readonly nowMs: () => number;
  /** Maximum time between two runs if the clock is right. */
  readonly apartMsMax: number;
  /** Maximum size of one page. */
  readonly bytesMax: number;
  readonly recordsMax: number;
}

const PAGES_MAX = 10_000;
const NAME_SHOWN_MAX = 80;
const BELIEVED_AFTER_MS = 86_400_000;
const REDIRECTS_MAX = 5;
const RETRIES = { attemptsMax: 3, waitMsFirst: 500, waitMsMax: 30_000 };

export class ApiSource implements FeedSource {
  readonly provider = 'api';
  readonly asksForEach = false;
  private readonly records: JsonPath;
  private readonly name: JsonPath;
  private readonly paths: ReadonlyMap<string, JsonPath> | undefined;
  /** True if the records are named by their member `name`. */
  private readonly isNamedByName: boolean;
  private readonly kinds = new FieldKinds();
  private next: ApiMemory | undefined;
  /** True once the owner has been told of missing fields, which happens once per run and not for each record. */
  private isCutTold = false;

  /** Throws a SyntaxError for a path that cannot be read. */
  constructor(private readonly options: ApiSourceOptions) {
    const { records, name, fields, pagination, url } = options.settings;
    this.records = new JsonPath(records);
    this.name = new JsonPath(name);
    this.isNamedByName = isMemberName(this.name);
    this.paths =
      fields === undefined
        ? undefined
        : new Map(Object.entries(fields).map(([field, path]) => [field, new JsonPath(path)]));
    new Pagination(pagination, url);
  }

  async read(
    listener: SourceListener,
    { isFresh, signal }: { readonly isFresh: boolean; readonly signal: AbortSignal },
  ): Promise<SourceOutcome> {
    const { memory, settings, nowMs } = this.options;
    const before = memory.read();
    const known = isFresh ? undefined : before;
    const nowUtc = new Date(nowMs()).toISOString();
    const isPartial =
      settings.updated_since !== undefined &&
      known?.kinds !== undefined &&
      // A moment in the future comes from a clock that was ahead. Nothing would have changed since then.
      known.since <= nowUtc &&
      known.partialRuns + 1 < settings.updated_since.full_every;
    this.next = {
      ...before,
      since: nowUtc,
      partialRuns: isPartial ? known.partialRuns + 1 : 0,
    };
    const counts = { requests: 0, bytes: 0 };
    /** By name, the number of the page on which a record was first found. */
    const names = new Map<string, number>();
    let nameless = 0;
    const came = await this.pages(isPartial ? known.since : undefined, { signal, counts }, (record, page) => {
      const name = this.name.scalar(record);
      if (name === undefined || name === '') {
        nameless += 1;
        listener.skipped(JSON.stringify(record).slice(0, NAME_SHOWN_MAX), `It has no name at '${this.name.text}'.`);
        return;
      }
      const firstPage = names.get(String(name));
      if (firstPage !== undefined) {
        // At the border of two pages a record may be on both. Two on the same page are different records that have the
        // same name.
        if (firstPage === page)
          listener.skipped(
            String(name).slice(0, NAME_SHOWN_MAX),
            `More than one record of a page has this name at '${this.name.text}'; the first is taken.`,
          );
        return;
      }
      names.set(String(name), page);
      const fields = this.fieldsOf(record, String(name), listener);
      this.kinds.meet(fields);
      listener.record({ name: String(name), fields });
    });
    // The records are there, but their names are somewhere else.
    if (nameless > 0 && names.size === 0)
      throw new SourceFailedError(
        `The answer has ${nameless === 1 ? 'a record, which has no name' : `${nameless} records, of which none has a name`} at '${this.name.text}'.`,
      );
    if (came === 'perhaps cut') listener.skipped('the rest', PERHAPS_CUT);
    if (came === 'limited')
      listener.skipped('the rest', `A feed has at most ${this.options.recordsMax} records and ${PAGES_MAX} pages.`);
    const isExplained = !isPartial && this.noteNameless(nameless, before, listener);
    const isComplete = came === 'whole' && isExplained;
    this.noteKinds(isComplete ? undefined : before?.kinds, listener);
    return { isComplete, ...counts };
  }

  /**
   * Keeps what the fields are. `before`: what was known of records that were not given this time, but stay: without it
   * the file would describe only the fields of those that were given.
   */
  private noteKinds(before: KnownKinds | undefined, listener: SourceListener): void {
    if (before !== undefined) this.kinds.include(before);
    if (this.kinds.areMore) listener.skipped(`fields after the first ${FIELDS_PER_LIST_MAX}`, MORE_FIELDS);
    if (this.next !== undefined) this.next = { ...this.next, kinds: this.kinds.known() };
  }

  /**
   * Returns false if more records have no name than is usual for the source. These may be any of the records that are
   * missing, for example because the names of some have moved to another member. After a day it is believed that they
   * are other records.
   */
  private noteNameless(nameless: number, before: ApiMemory | undefined, listener: SourceListener): boolean {
    const { nowMs, apartMsMax } = this.options;
    const usual = before?.nameless ?? nameless;
    const isMore = nameless > usual;
    const { moreNamelessSince: since = new Date(nowMs()).toISOString(), moreNamelessMs = 0 } = before ?? {};
    const isKnown = before?.moreNamelessSince !== undefined;
    const ms = isKnown ? seenFor({ ms: moreNamelessMs, lastUtc: before.since }, nowMs(), apartMsMax) : 0;
    const isExplained = !isMore || ms >= BELIEVED_AFTER_MS;
    if (!isExplained)
      listener.skipped(
        `${nameless} without a name`,
        `Before, there were ${usual}. They may be those that are missing, of which none is removed until it has been like that for a day.`,
      );
    if (this.next !== undefined) {
      const { since: readSince, partialRuns } = this.next;
      const counted = isExplained ? { nameless } : { nameless: usual, moreNamelessSince: since, moreNamelessMs: ms };
      this.next = { since: readSince, partialRuns, ...counted };
    }
    return isExplained;
  }

  private fieldsOf(record: JsonValue, name: string, listener: SourceListener): Readonly<Record<string, FieldValue>> {
    if (this.paths !== undefined) return mappedFields(record, this.paths);
    const { fields, isCut } = allFields(record);
    if (isCut && !this.isCutTold) {
      this.isCutTold = true;
      const why = `A record has at most ${FIELDS_MAX} fields, and this one has more members; name those that are wanted in \`fields\`.`;
      listener.skipped(`members of ${name.slice(0, NAME_SHOWN_MAX)}`, why);
    }
    return this.isNamedByName ? fields : withoutRecordName(fields);
  }

  /** Reads everything once more. A record that is in neither of two complete listings is gone. */
  async confirmGone(names: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const missing = new Set(names);
    const came = await this.pages(undefined, { signal, counts: { requests: 0, bytes: 0 } }, (record) => {
      missing.delete(String(this.name.scalar(record)));
    });
    return came === 'whole' ? missing : new Set();
  }

  fields(): FieldDescriptions {
    return this.kinds.described();
  }

  async keep(): Promise<void> {
    if (this.next !== undefined) await this.options.memory.write(this.next);
  }

  /**
   * Reads the pages one after another. Rejects with a SourceFailedError if a page cannot be read or was given before.
   */
  private async pages(
    since: string | undefined,
    run: { readonly signal: AbortSignal; readonly counts: { requests: number; bytes: number } },
    onRecord: (record: JsonValue, page: number) => void,
  ): Promise<'whole' | 'limited' | 'perhaps cut'> {
    const { settings, recordsMax } = this.options;
    const pagination = new Pagination(settings.pagination, startUrl(settings, since));
    const met = new Set<string>();
    const slices = new Slices(run.signal);
    let records = 0;
    let isEndTold = true;
    for (let url: string | undefined = pagination.firstUrl(), page = 1; url !== undefined; page += 1) {
      if (page > PAGES_MAX) return 'limited';
      const { json, isLines, response } = await this.page(url, run);
      isEndTold &&= !isLines || response.tellsItsEnd;
      const found = this.found(json);
      const content = await hashOf(found, slices);
      if (found.length > 0 && met.has(content))
        throw new SourceFailedError('The interface gives the same page again and again: its pagination has no end.');
      met.add(content);
      for (const record of found.slice(0, recordsMax - records)) {
        onRecord(record, page);
        if (slices.areOver) await slices.next();
      }
      records += found.length;
      if (records > recordsMax) return 'limited';
      url = pagination.urlAfter({
        url: response.url,
        json,
        recordCount: found.length,
        linkHeader: response.headers['link'],
      });
    }
    return isEndTold ? 'whole' : 'perhaps cut';
  }

  private found(json: JsonValue): readonly JsonValue[] {
    const found = this.records.all(json);
    if (found.length === 0) throw new SourceFailedError(`The answer has nothing at '${this.records.text}'.`);
    const [first] = found;
    return found.length === 1 && Array.isArray(first) ? (first as readonly JsonValue[]) : found;
  }

  /**
   * Returns the secret if the address has the interface's own origin, and undefined otherwise. The address of the next
   * page comes from an answer, which may come from a server to which a redirect led.
   */
  private secretFor(url: string): ApiSourceOptions['authHeader'] {
    const { settings, authHeader } = this.options;
    return new URL(url).origin === new URL(settings.url).origin ? authHeader : undefined;
  }

  private async page(
    url: string,
    { signal, counts }: { readonly signal: AbortSignal; readonly counts: { requests: number; bytes: number } },
  ): Promise<{ json: JsonValue; isLines: boolean; response: OutboundResponse }> {
    const { settings, client, bytesMax } = this.options;
    const authHeader = this.secretFor(url);
    counts.requests += 1;
    try {
      const response = await client.request({
        url,
        method: settings.method,
        headers: {
          accept: 'application/json, application/x-ndjson;q=0.9',
          ...(settings.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(authHeader === undefined ? {} : { [authHeader.name.toLowerCase()]: authHeader.value.reveal() }),
        },
        ...(settings.body === undefined ? {} : { body: JSON.stringify(settings.body) }),
        secretHeaders: authHeader === undefined ? [] : [authHeader.name.toLowerCase()],
        redirectsMax: REDIRECTS_MAX,
        retries: RETRIES,
        limits: { bytesMax, wireBytesMax: bytesMax },
        signal,
      });
      if (response.status !== 200) {
        response.discard();
        throw new SourceFailedError(
          `The interface answered ${response.status}.`,
          response.retryAfterMs(this.options.nowMs()),
        );
      }
      const bytes = await response.bytes();
      counts.bytes += bytes.length;
      const contentType = response.headers['content-type'] ?? '';
      const { value, isLines } = await readJsonBody(bytes, { contentType, slices: new Slices(signal) });
      return { json: value, isLines, response };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof OutboundFailedError || error instanceof OutboundRefusedError)
        throw new SourceFailedError(`The interface cannot be read: ${error.message}`, undefined, { cause: error });
      throw error;
    }
  }
}

const MORE_FIELDS = `A list has at most ${FIELDS_PER_LIST_MAX} fields: the others are in the records, and a list that takes its fields from the feed cannot be searched by them. Name those that are wanted in \`fields\`.`;

/** Each line is complete by itself, so a list of lines may end anywhere without this being noticed. */
const PERHAPS_CUT =
  'The answer has records line by line, and tells neither its length nor its end: what is missing may have been cut off, so that nothing is removed for it.';

/** Hash of all records of a page. */
async function hashOf(values: readonly JsonValue[], slices: Slices): Promise<string> {
  const hash = createHash('sha256');
  for (const value of values) {
    hash.update(JSON.stringify(value)).update(',');
    if (slices.areOver) await slices.next();
  }
  return hash.digest('base64');
}

function startUrl({ url, updated_since: updated }: ApiSettings, since: string | undefined): string {
  if (updated === undefined || since === undefined) return url;
  const start = new URL(url);
  start.searchParams.set(updated.parameter, since);
  return start.href;
}
