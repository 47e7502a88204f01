/** Generates sequences of operations from a seed. */
import { SeededRandom } from '../support/random.js';
import { MadeValues } from './made-values.js';
import type {
  AccountStep,
  ContendedCall,
  NewRecord,
  Operation,
  Search,
  Sequence,
  SettingsChange,
  Target,
  Write,
} from './operations.js';
import type { Comparison, Filter } from './reference-filter.js';
import type { Box, Fields, Model, SortKey } from './reference-list.js';
import type { Definition, FacetDefinition, FacetType, Value } from './reference-values.js';
import type { GivenVectors } from './reference-vectors.js';
import type { Match, QueryRule, SynonymRule, WordQuery } from './reference-words.js';

export const LISTS = 2;
const BULK_RECORDS_MAX = 40;
const BULK_RECORDS_MANY = 400;
const DEPTH_MAX = 3;
const RESTART_EVERY = 5;
const TOLD_EVERY = 3;
/** Multiple of TOLD_EVERY: sequences with account operations also have a webhook. */
const ACCOUNT_EVERY = 9;

/** Offset of the seed for account operations, so that they draw other numbers than the sequence itself. */
const ACCOUNT_SEED = 7_919_000_000;
const ACCOUNT_OPERATIONS = 3;
const ACCOUNT_STEPS = 5;

/** All facet fields that sequences use; each list has a subset as its facets. */
const FACETS: readonly FacetDefinition[] = [
  facet('colour', 'string', 'Single'),
  facet('not in (null)', 'string', 'Single'),
  facet('tags', 'string', 'Many'),
  facet('日本', 'string', 'Many'),
  facet('price', 'number', 'Single'),
  facet('and', 'number', 'Many'),
  facet('flag', 'boolean', 'Single'),
  facet('flags', 'boolean', 'Many'),
  facet('day', 'date', 'Single'),
  facet('a.b', 'date', 'Many'),
  // Also the keyword of `order_by` for the distance of a record.
  facet('distance', 'number', 'Single'),
];
/** Fields whose type and cardinality change; they are counted and sorted by only in searches of a list. */
const CHANGING = ['changing', 'other changing'];
const RULED = FACETS.filter(({ type }) => type === 'string' || type === 'boolean');
const CAPTURED = FACETS.filter(({ type }) => type !== 'date');
/** Words after which rules capture the next word. */
const CAPTURING = ['sea', 'cliff'];
const TYPES: readonly FacetType[] = ['string', 'number', 'boolean', 'date'];
const SEARCHABLE = ['title', 'text', 'colour', 'tags', 'name'];
const PLACE = 'place';
const TEXT_FACETS: ReadonlySet<string> = new Set(
  FACETS.filter(({ type }) => type === 'string').map(({ name }) => name),
);
/** Beginnings of words of values, and some whole ones; accents and case do not count. */
const FACET_WORDS = ['a', 'A', 'b', 'nul', 'gan', 'É', 'fi', 'ss', 'ab', 'tru', '2026', 'em', 'xyz'];

function facet(name: string, type: FacetType, cardinality: FacetDefinition['cardinality']): FacetDefinition {
  return { name, type, cardinality };
}

function withoutVectors({ name, fields }: NewRecord): NewRecord {
  return { name, fields };
}

export function madeSequence(seed: number, operations: number): Sequence {
  const made = new SequenceMaker(new SeededRandom(seed)).make(operations);
  const told = seed % TOLD_EVERY === 0 ? { ...made, isTold: true } : made;
  const sequence = seed % ACCOUNT_EVERY === 0 ? withAccount(told, seed) : told;
  // Only some sequences restart the service: a start takes as long as a whole sequence.
  if (seed % RESTART_EVERY > 0) return sequence;
  const restart: Operation =
    seed % (2 * RESTART_EVERY) === 0
      ? new SequenceMaker(new SeededRandom(-seed)).kill()
      : { kind: 'restart', signal: 'SIGTERM' };
  return { ...sequence, operations: sequence.operations.toSpliced(operations / 2, 0, restart) };
}

/** Inserts account operations at random places. */
function withAccount({ operations, ...others }: Sequence, seed: number): Sequence {
  const random = new SeededRandom(seed + ACCOUNT_SEED);
  const step = (): AccountStep => ({
    what: random.pick(['file', 'file', 'store', 'key', 'contributor'] as const),
    number: random.below(3),
    variant: random.below(4),
  });
  const steps = Array.from({ length: ACCOUNT_OPERATIONS }, (): Operation => {
    return { kind: 'account', steps: Array.from({ length: ACCOUNT_STEPS }, step) };
  });
  const some = steps.reduce((all, each) => all.toSpliced(random.below(all.length + 1), 0, each), operations);
  return { ...others, operations: some };
}

class SequenceMaker {
  readonly #values: MadeValues;

  constructor(private readonly random: SeededRandom) {
    this.#values = new MadeValues(random);
  }

  make(count: number): Sequence {
    const definitions = Array.from({ length: LISTS }, () => this.#definition());
    const models = definitions.map(() => this.#model());
    return { definitions, models, operations: Array.from({ length: count }, () => this.#operation()) };
  }

  #model(): Model {
    return this.random.pick<Model>(['own', 'own', 'texts', null]);
  }

  #definition(): Definition {
    const some = <T>(all: readonly T[]) => all.filter(() => this.random.below(12) > 0);
    const changing = CHANGING.filter(() => this.random.below(3) > 0).map((name) =>
      facet(name, this.random.pick(TYPES), this.random.pick(['Single', 'Many'] as const)),
    );
    return {
      facets: [...some(FACETS), ...changing],
      searchable: ['title', ...some(SEARCHABLE.slice(1))],
      location: this.random.below(4) === 0 ? null : PLACE,
    };
  }

  #operation(): Operation {
    const list = this.random.below(LISTS);
    const drawn = this.random.below(100);
    if (drawn < 50) return { kind: 'search', ...this.#search() };
    if (drawn < 74) return this.#write(list, this.#values.name());
    if (drawn < 82) return this.#bulk(list);
    if (drawn < 87) return this.#together(list);
    if (drawn < 90)
      return { kind: 'delete-matching', list, filter: this.#filter(DEPTH_MAX), style: this.random.below(1000) };
    if (drawn < 92) return { kind: 'read-all', list };
    if (drawn < 93) return this.#rarer(list);
    if (drawn < 94 && this.random.below(2) === 0) return { kind: 'model', list, model: this.#model() };
    if (drawn < 95) return { kind: 'define', list, definition: this.#definition() };
    if (drawn < 96) return { kind: 'synonyms', list, rules: this.#rules() };
    if (drawn < 97 && this.random.below(2) === 0)
      return this.random.below(2) === 0
        ? this.#members()
        : { kind: 'recreate', list, definition: this.#definition(), model: this.#model() };
    if (drawn < 97) return { kind: 'clone', from: list, to: (list + 1) % LISTS };
    if (drawn < 98) return this.random.below(2) === 0 ? { kind: 'reindex', list } : this.#members();
    if (drawn < 99) return this.random.below(2) === 0 ? { kind: 'csv', list } : this.#queryRules(list);
    return { kind: 'search', ...this.#search() };
  }

  #rarer(list: number): Operation {
    switch (this.random.below(3)) {
      case 0: {
        const names = Array.from({ length: this.random.below(30) }, () => this.#values.name());
        const writes = names.map((name) => this.#write(list, name));
        return { kind: 'walk', list, size: 1 + this.random.below(6), beside: 1 + this.random.below(4), writes };
      }
      case 1:
        return { kind: 'contended', list, calls: this.#calls() };
      default:
        return { kind: 'preview', list, rule: this.#rule() };
    }
  }

  /** Concurrent calls that share few record names. */
  #calls(): ContendedCall[] {
    const names = Array.from({ length: 1 + this.random.below(5) }, () => this.#values.name());
    const record = () => this.#record(this.random.pick(names));
    return Array.from({ length: 2 + this.random.below(8) }, (): ContendedCall => {
      const drawn = this.random.below(6);
      if (drawn === 0) return { kind: 'delete', name: this.random.pick(names) };
      if (drawn < 4) return { kind: 'put', record: record() };
      return { kind: 'bulk', records: Array.from({ length: 1 + this.random.below(12) }, record) };
    });
  }

  #write(list: number, name: string): Write {
    const drawn = this.random.below(10);
    if (drawn < 4) return { kind: 'put', list, ...this.#sent(name) };
    if (drawn < 6) return { kind: 'patch', list, name, fields: this.#fields(3), ...this.#vectors() };
    if (drawn < 8) return { kind: 'delete', list, name };
    return {
      kind: 'replace',
      list,
      name,
      record: this.#record(this.random.below(2) === 0 ? name : this.#values.name()),
    };
  }

  #bulk(list: number): Operation {
    const many = this.random.below(10) === 0;
    const length = 1 + this.random.below(many ? BULK_RECORDS_MANY : BULK_RECORDS_MAX);
    const records = Array.from({ length }, (_, at) =>
      this.#record(at % 2 === 0 ? this.#values.name() : `b${this.random.below(length)}`),
    );
    const format = this.random.pick(['ndjson', 'json', 'flat'] as const);
    const strays = Array.from({ length: this.random.below(3) }, () => ({
      before: this.random.below(length),
      stray: this.#values.stray(),
    }));
    const sent = format === 'flat' ? records.map(withoutVectors) : records;
    return { kind: 'bulk', list, records: sent, format, strays, isPatch: length % 4 === 3 };
  }

  #together(list: number): Operation {
    const names = new Set(Array.from({ length: 2 + this.random.below(8) }, () => this.#values.name()));
    // No write renames a record to the name of another: which of them comes first would be unpredictable.
    const writes = [...names].map((name) => {
      const write = this.#write(list, name);
      return write.kind === 'replace' ? { ...write, record: { ...write.record, name } } : write;
    });
    return { kind: 'together', writes, search: this.#search() };
  }

  #sent(name: string) {
    const record = this.#record(name);
    // The flat form cannot have vectors: they would be fields.
    return { record, flat: record.vectors === undefined && this.random.below(2) === 0 };
  }

  #record(name: string): NewRecord {
    return { name, fields: this.#fields(1), ...this.#vectors() };
  }

  #vectors(): { vectors?: GivenVectors } {
    const vectors = this.#values.vectors();
    return vectors === undefined ? {} : { vectors };
  }

  /** Returns about one in `rarity` of all fields. */
  #fields(rarity: number): Fields {
    const fields: Record<string, Value | null> = {};
    const wanted = () => this.random.below(rarity) === 0;
    for (const definition of FACETS) if (wanted()) fields[definition.name] = this.#values.facetValue(definition);
    // Left out of most records, since a value that does not fit makes the whole record refused.
    for (const name of CHANGING)
      if (wanted() && this.random.below(3) === 0) fields[name] = this.#values.changingValue();
    for (const name of ['title', 'text']) if (wanted()) fields[name] = this.#values.text();
    if (wanted()) fields[PLACE] = this.random.below(3) === 0 ? null : this.#values.point();
    if (wanted())
      fields['extra'] = this.random.pick<Value | null>([null, '', 0, false, [], ['a', 1, true], this.#values.text()]);
    return fields;
  }

  kill(): Operation {
    const names = Array.from({ length: 40 }, () => this.#values.name());
    const records = [...new Set(names)].map((name) => this.#record(name));
    const writes = records.map((record, at) => (at % 3 === 0 ? [record] : records.slice(at, at + 2)));
    const { lists } = this.#members();
    const others: readonly SettingsChange[] = [
      { kind: 'define', list: 1, definition: this.#definition() },
      // Without pinned versions: whether a concurrent change made a version, and what it has, is unknown.
      { kind: 'members', lists: lists.map(({ list }) => ({ list })) },
    ];
    const all: readonly SettingsChange[] = [
      { kind: 'synonyms', list: this.random.below(LISTS), rules: this.#rules() },
      this.#queryRules(0),
      this.random.pick(others),
    ];
    // Makes the remaining calls disjoint: a bulk call also has the record of the call after it.
    const some = writes.filter((_, at) => at % 3 !== 2);
    return { kind: 'kill', list: 0, writes: some, changes: all.filter(() => this.random.below(4) > 0) };
  }

  #members(): Extract<SettingsChange, { kind: 'members' }> {
    const all = Array.from({ length: LISTS }, (_, list) => list);
    const lists = this.random.below(2) === 0 ? all : all.filter(() => this.random.below(2) === 0);
    return {
      kind: 'members',
      lists: lists.map((list) => (this.random.below(4) === 0 ? { list, back: this.random.below(3) } : { list })),
    };
  }

  #queryRules(list: number): SettingsChange {
    const rules = Array.from({ length: this.random.below(3) }, (_, at): QueryRule => {
      const captures = this.random.below(3) === 0 ? undefined : this.random.pick(['alone', 'or-value'] as const);
      const { name: field, type } = this.random.pick(captures === undefined ? RULED : CAPTURED);
      const value = this.#values.scalar(type);
      const rule = { name: `rule-${at}`, field, value, keep: this.random.below(3) === 0 };
      if (captures === undefined) return { ...rule, word: this.#values.word() };
      return { ...rule, captures, word: this.random.pick(CAPTURING) };
    });
    return { kind: 'query-rules', list, rules };
  }

  #rules(): SynonymRule[] {
    return Array.from({ length: this.random.below(4) }, () => this.#rule());
  }

  #rule(): SynonymRule {
    const term = () =>
      this.random.below(3) > 0 ? this.#values.word() : `${this.#values.word()} ${this.#values.word()}`;
    const words = () => [...new Set([term(), term()])];
    const terms = words();
    if (terms.length < 2 || this.random.below(2) === 0) return { kind: 'rewrite', terms, replace_with: words() };
    return { kind: 'equivalent', terms };
  }

  #target(): Target {
    if (this.random.below(6) === 0) return { group: 'latest' };
    if (this.random.below(10) === 0) return { group: 'number', back: this.random.pick([0, 1, 1, 2, 3, 4]) };
    return { list: this.random.below(LISTS), back: this.random.below(5) === 0 ? 1 + this.random.below(2) : 0 };
  }

  /** Returns a box between two places, or around one, whose borders are not places themselves. */
  #box(): Box {
    const [one, other] = [this.#values.point(), this.#values.point()];
    const [south = 0, north = 0] = [one.latitude, other.latitude].sort((a, b) => a - b);
    return {
      south: Math.max(-90, south - 0.0123),
      west: Math.max(-360, one.longitude - 0.0123),
      north: Math.min(90, north + 0.0123),
      east: other.longitude + 0.0123,
    };
  }

  #search(): Search {
    const one = <T>(rarity: number, value: () => T) => (this.random.below(rarity) === 0 ? value() : undefined);
    const optional = {
      filter: one(2, () => this.#filter(DEPTH_MAX)),
      query: one(2, () => this.#query()),
      radius: one(8, () => ({
        centre: this.#values.point(),
        metres: this.random.pick([0, 1, 800, 1200, 1e5, 1e7, 3e7]),
      })),
      box: one(8, () => this.#box()),
      vector: one(3, () => this.#values.vector()),
      exact: one(3, () => true),
      select: one(4, () => ['title', ...FACETS.filter(() => this.random.below(3) === 0).map(({ name }) => name)]),
    };
    const given = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
    const target = this.#target();
    const changing = 'group' in target ? [] : CHANGING.filter(() => this.random.below(5) === 0);
    const order = this.random.below(2) === 0 ? [] : this.#order(changing, optional.radius !== undefined);
    const facets = [...FACETS.map(({ name }) => name).filter(() => this.random.below(3) === 0), ...changing];
    return {
      target,
      ...given,
      order,
      ...(order.length === 0 && this.random.below(6) === 0 && { asStored: true }),
      ...this.#facetOptions(facets),
      ...(optional.query !== undefined && this.random.below(4) === 0 && { searchFields: this.#searchFields() }),
      ...(this.random.below(4) === 0 && { distinct: this.#distinct() }),
      skip: this.random.pick([0, 0, 0, 1, 5, 30]),
      size: this.random.pick([0, 1, 3, 10, 100, 1000]),
      paged: this.random.below(4) === 0,
      style: this.random.below(1000),
    };
  }

  #facetOptions(facets: readonly string[]): Pick<Search, 'facets' | 'facetSize' | 'facetQuery' | 'disjunctive'> {
    const facetSize = this.random.pick([1, 2, 5, 20, 1000]);
    const disjunctive = this.random.below(3) === 0 ? { disjunctive: true } : {};
    if (this.random.below(5) > 0) return { facets, facetSize, ...disjunctive };
    // Other values have no words: some are refused.
    const ofTexts = facets.filter((name) => TEXT_FACETS.has(name) || this.random.below(12) === 0);
    const facetQuery = [
      this.random.pick(FACET_WORDS),
      ...(this.random.below(3) === 0 ? [this.random.pick(FACET_WORDS)] : []),
    ];
    return { facets: ofTexts, facetSize, facetQuery, ...disjunctive };
  }

  #searchFields(): string[] {
    const some = SEARCHABLE.filter(() => this.random.below(2) === 0);
    return some.length === 0 ? ['title'] : some;
  }

  /** Returns the name of a facet; that of a Many facet is refused. Types of changing fields differ within a group. */
  #distinct(): string {
    const allowed = FACETS.filter(({ cardinality }) => cardinality === 'Single' || this.random.below(20) === 0);
    return this.random.pick([...allowed.map(({ name }) => name), ...CHANGING]);
  }

  #order(others: readonly string[], isNear: boolean): SortKey[] {
    const singles = FACETS.filter(({ cardinality }) => cardinality === 'Single').map(({ name }) => name);
    const byPlace = isNear || this.random.below(50) === 0 ? ['distance', 'distance'] : [];
    const sortable = [...singles, 'name', 'created_utc', 'modified_utc', ...byPlace, ...others];
    const keys = new Set(Array.from({ length: 1 + this.random.below(4) }, () => this.random.pick(sortable)));
    return [...keys].map((by) => {
      const direction = this.random.pick(['asc', 'desc'] as const);
      return by === 'distance' && this.random.below(2) === 0 ? { by, direction, quoted: true } : { by, direction };
    });
  }

  #query(): WordQuery {
    const words = Array.from({ length: this.random.pick([1, 1, 2, 3]) }, () => this.#values.word());
    if (this.random.below(6) === 0) words.unshift(this.random.pick(CAPTURING), this.#values.captured());
    return { words, match: this.random.pick<Match>(['any', 'all', 'phrase']), typos: this.random.below(3) === 0 };
  }

  #filter(depth: number): Filter {
    const drawn = this.random.below(depth > 0 ? 10 : 7);
    if (drawn >= 9) return { kind: 'not', part: this.#filter(depth - 1) };
    if (drawn >= 7) {
      const parts = Array.from({ length: 1 + this.random.below(3) }, () => this.#filter(depth - 1));
      return { kind: this.random.pick(['and', 'or'] as const), parts };
    }
    const { name: field, type } = this.random.pick(FACETS);
    if (drawn === 0) return { kind: 'null', field, by: this.random.pick(['=', '!='] as const) };
    const value = () => this.#values.scalar(type);
    if (drawn === 1) return { kind: 'in', field, values: Array.from({ length: 1 + this.random.below(4) }, value) };
    const comparisons: readonly Comparison[] = type === 'boolean' ? ['=', '!='] : ['=', '!=', '<', '<=', '>', '>='];
    return { kind: 'compare', field, by: this.random.pick(comparisons), value: value() };
  }
}
