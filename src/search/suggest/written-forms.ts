/**
 * Finds how the records of a list write a word of its index, whose words are folded: `książki` for `ksiazki`. Belongs to
 * one thread.
 */
import { isAscii } from 'node:buffer';
import type { GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import { planOfTerm, QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import {
  DamagedRecord,
  readRecord,
  type RecordParts,
  type RecordStoreCache,
  type VersionStore,
} from '../../records/index.js';
import type { ListContext } from '../execution/list-context.js';
import { highlightRecords } from '../response/highlighting.js';
import { unescapeHtml } from './marking.js';
import { hasDotlessI, isInCapitals, ofSearches } from './spelling.js';

/** Records read for a word: the oldest ones that have it. */
const RECORDS_READ_MAX = 5;
/** Records that decide, if all of them write the word the same way. */
const RECORDS_AGREEING = 2;
/** Capitals often have no marks (ΟΔΟΣ, ECOLE, STRASSE), so they decide only where all records write them. */
const CAPITALS_WEIGHT = 1 / 8;
/** Longer records are not read, since all of their text may have to be. */
const FIELDS_BYTES_MAX = 64 << 10;
/** If all records of a word are longer, the shortest one is read, up to this size. */
const FIELDS_BYTES_ALONE_MAX = 512 << 10;
/** Cached forms of all generations, some 100 bytes each. All are dropped when the limit is reached. */
const FORMS_MAX = 16_384;
/** Words of these scripts differ from what the index has in the width of letters alone. */
const DICTIONARY_SCRIPT = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;
const MARKED = /<em>(.*?)<\/em>/su;

type FormsKernel = Pick<Kernel, 'firstRecords' | 'highlight'>;

export class WrittenForms {
  private readonly planWriter = new QueryPlanWriter();
  /** By generation and term. Never stale: handles of generations are not reused. */
  private readonly forms = new Map<GenerationHandle, Map<string, string>>();
  private count = 0;

  constructor(
    private readonly kernel: FormsKernel,
    private readonly stores: RecordStoreCache,
  ) {}

  /**
   * Returns the form that most of some records write, in lower case; of several, one that is not the term, then the
   * first in the order of characters. Returns the term itself if none of these records is readable, short enough and
   * still has it. A search for the form finds what a search for the term does.
   */
  of(list: ListContext, generation: GenerationHandle, term: string): string {
    if (DICTIONARY_SCRIPT.test(term)) return term;
    const known = this.forms.get(generation)?.get(term);
    if (known !== undefined) return known;
    const form = this.find(list, generation, term);
    if (this.count >= FORMS_MAX) {
      this.forms.clear();
      this.count = 0;
    }
    const forms = this.forms.get(generation) ?? new Map<string, string>();
    this.forms.set(generation, forms.set(term, form));
    this.count += 1;
    return form;
  }

  private find({ settings }: ListContext, generation: GenerationHandle, term: string): string {
    const { definition, language } = settings;
    const numbers = this.kernel.firstRecords(generation, term, RECORDS_READ_MAX);
    const store = this.stores.get(settings.listPath).version(settings.version);
    const fieldNames = definition.searchable_fields.map(({ name }) => name);
    const votes = new Votes(term);
    for (const record of readable(store, numbers)) {
      const written = this.writtenIn(record, fieldNames, { term, language });
      if (written !== undefined) votes.add(ofSearches(written, language), isInCapitals(written));
      if (votes.most >= RECORDS_AGREEING) break;
    }
    return votes.winner();
  }

  /** Returns the first occurrence of the term in the record. Undefined if it no longer has it. */
  private writtenIn(
    record: RecordParts,
    fieldNames: readonly string[],
    { term, language }: { readonly term: string; readonly language: string },
  ): string | undefined {
    // No word of a record in ASCII has a mark, and reading all of its words would take several times as long.
    const texts = textsOf(record, fieldNames);
    if (!hasDotlessI(language) && texts.every((text) => isAscii(text))) return plainForm(texts, term);
    const plan = this.planWriter.write(planOfTerm(term, false));
    const [json] = highlightRecords(this.kernel, { fieldNames, plan }, [record]);
    if (json === undefined) return undefined;
    const text = Buffer.from(json.bytes.buffer, json.bytes.byteOffset + json.begin, json.end - json.begin).toString();
    const passages = JSON.parse(text) as Readonly<Record<string, string>>;
    for (const name of fieldNames) {
      const marked = Object.hasOwn(passages, name) ? MARKED.exec(passages[name] ?? '')?.[1] : undefined;
      if (marked !== undefined) return unescapeHtml(marked);
    }
    return undefined;
  }
}

/** Yields the records to be read, in the order of their numbers. Each is valid until the next one. */
function* readable(store: VersionStore, numbers: Uint32Array): Generator<RecordParts> {
  let shortest: { readonly number: number; readonly length: number } | undefined;
  let isAnyShort = false;
  for (const number of numbers) {
    const record = readFrom(store, number);
    if (record === undefined) continue;
    const length = record.end - record.fieldsBegin;
    if (length <= FIELDS_BYTES_MAX) {
      isAnyShort = true;
      yield record;
    } else if (length < (shortest?.length ?? FIELDS_BYTES_ALONE_MAX)) {
      shortest = { number, length };
    }
  }
  const alone = isAnyShort || shortest === undefined ? undefined : readFrom(store, shortest.number);
  if (alone !== undefined) yield alone;
}

/** Undefined for a record that is damaged, or was deleted after the generation was published. */
function readFrom(store: VersionStore, number: number): RecordParts | undefined {
  const bytes = store.record(number);
  const record = bytes === undefined ? undefined : readRecord(bytes);
  return record instanceof DamagedRecord ? undefined : record;
}

function textsOf(record: RecordParts, fieldNames: readonly string[]): readonly Buffer[] {
  const texts = fieldNames.includes('name') ? [record.nameJson, record.fields] : [record.fields];
  return texts.map((text) => Buffer.from(text.buffer, text.byteOffset, text.length));
}

/** Returns the term in capitals if texts in ASCII have it so. */
function plainForm(texts: readonly Buffer[], term: string): string {
  const capitals = term.toUpperCase();
  return texts.some((text) => text.includes(capitals)) ? capitals : term;
}

class Votes {
  private readonly counts = new Map<string, number>();
  most = 0;

  constructor(private readonly term: string) {}

  add(form: string, isInCapitals: boolean): void {
    const count = (this.counts.get(form) ?? 0) + (isInCapitals ? CAPITALS_WEIGHT : 1);
    this.counts.set(form, count);
    this.most = Math.max(this.most, count);
  }

  winner(): string {
    const best = [...this.counts].flatMap(([form, count]) => (count === this.most ? [form] : []));
    return best.sort().find((form) => form !== this.term) ?? this.term;
  }
}
