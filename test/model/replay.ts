/** Runs a sequence against the real service and the reference side by side. */
import { isDeepStrictEqual } from 'node:util';
import type { Answer, ServiceClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { SeededRandom } from '../support/random.js';
import type { TestService } from '../support/service.js';
import { checkRelated, checkSuggestions } from './companion-check.js';
import { CountedSearches } from './counted-searches.js';
import { broughtBack, columnsOf, csvOf } from './csv-round-trip.js';
import { Difference, holdsTrue, same, shown } from './difference.js';
import { OtherWays, type SentSearch } from './other-ways.js';
import type { NewRecord, Operation, Search, Sequence, Write } from './operations.js';
import { filterFields, writeFilter } from './reference-filter.js';
import { ReferenceList } from './reference-list.js';
import type { Definition, Value } from './reference-values.js';
import { isRefused, SearchCheck, type Hit, type SearchAnswer, type Searched } from './search-check.js';

const VERSIONS_KEPT = 2;
const PAGING_TRIES_MAX = 4;
const LISTING_SIZE = 7;
const HITS_MAX = 1000;
const NO_ID = '01900000-0000-7000-8000-000000000000';

/** Its lists and its group are called after `prefix`, and are gone at the end. */
export async function replay(service: TestService, prefix: string, sequence: Sequence): Promise<void> {
  const run = new Replay(service, prefix);
  try {
    await run.begin(sequence.definitions);
    for (const [at, operation] of sequence.operations.entries()) {
      try {
        await run.step(operation);
      } catch (error) {
        if (error instanceof Difference) throw new Difference(error.what, `${error.message} (operation ${at})`);
        throw error;
      }
    }
    await run.checkReports();
  } finally {
    await run.end(sequence.definitions.length);
  }
}

class Replay {
  readonly #lists: ReferenceList[] = [];
  readonly #ids: Map<string, string>[] = [];
  readonly #otherWays: OtherWays;
  readonly #counted = new CountedSearches();
  /** Of the group, as numbers. */
  #memberLists: readonly number[] = [];
  #isPinned = true;

  constructor(
    private readonly service: TestService,
    private readonly prefix: string,
  ) {
    this.#otherWays = new OtherWays(service, prefix);
  }

  async begin(definitions: readonly Definition[]): Promise<void> {
    for (const [list, definition] of definitions.entries()) {
      await this.#expect(
        this.#client.post('/list/default', { name: this.#name(list), language: 'none', ...fieldsOf(definition) }),
        201,
      );
      this.#lists.push(new ReferenceList(definition));
      this.#ids.push(new Map());
    }
    this.#memberLists = definitions.map((_, list) => list);
    await this.#expect(this.#client.post('/list-group/default', { name: this.prefix, lists: this.#members() }), 201);
  }

  async end(lists: number): Promise<void> {
    await this.#client.delete(`/list-group/default/${this.prefix}`);
    for (let list = 0; list < lists; list += 1) await this.#client.delete(`/list/default/${this.#name(list)}`);
  }

  checkReports(): Promise<void> {
    const lists = this.#lists.map((_, list) => `list/${this.#name(list)}`);
    return this.#counted.check(this.#client, [...lists, `group/${this.prefix}`]);
  }

  step(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'search':
        return this.#search(operation);
      case 'put':
      case 'patch':
      case 'replace':
      case 'delete':
        return this.#write(operation);
      case 'bulk':
        return this.#bulk(operation);
      case 'delete-matching':
        return this.#deleteMatching(operation);
      case 'together':
        return this.#together(operation.writes, operation.search);
      case 'define':
        return this.#define(operation.list, operation.definition);
      case 'synonyms':
        return this.#synonyms(operation);
      case 'query-rules':
        return this.#queryRules(operation);
      case 'members':
        return this.#changeMembers(operation.lists);
      case 'csv':
        return this.#throughCsv(operation.list);
      case 'kill':
        return this.#kill(operation);
      case 'clone':
        return this.#clone(operation.from, operation.to);
      case 'reindex':
        return this.#reindex(operation.list);
      case 'read-all':
        return this.#readAll(operation.list);
      case 'restart':
        return this.#restart(operation.signal);
    }
  }

  get #client(): ServiceClient {
    return this.service.client;
  }

  #name(list: number): string {
    return `${this.prefix}-${list}`;
  }

  #members() {
    return this.#memberLists.map((list) => ({ list: this.#name(list) }));
  }

  #records(list: number): string {
    return `/search-result/default/${this.#name(list)}`;
  }

  #list(list: number): ReferenceList {
    const found = this.#lists[list];
    if (found === undefined) throw new Error(`There is no list ${list}`);
    return found;
  }

  async #expect(sent: Promise<Answer>, ...statuses: readonly number[]): Promise<Answer> {
    const answer = await sent;
    holdsTrue(`status ${statuses.join(' or ')}`, statuses.includes(answer.status), () => [answer.status, answer.text]);
    return answer;
  }

  async #write(write: Write): Promise<void> {
    await (
      await this.#sent(write)
    )();
  }

  /** Asks for what it needs, sends it, and resolves with what compares the answer and does the same to the reference. */
  async #sent(write: Write): Promise<() => Promise<void>> {
    const list = this.#list(write.list);
    const path = this.#records(write.list);
    const name = write.kind === 'put' ? write.record.name : write.name;
    const id = write.kind === 'put' ? NO_ID : await this.#idOf(write.list, name);
    const answer = this.#answerTo(write, path, id);
    return async () => {
      const { status, body, text } = await answer;
      const known = list.find(name) !== undefined;
      if (write.kind !== 'delete' && list.refuses(write.kind === 'patch' ? write.fields : write.record.fields)) {
        holdsTrue('status of values that do not fit', status === 400 || (!known && status === 404), () => [
          status,
          text,
        ]);
        return;
      }
      if (write.kind === 'put') {
        same('status of a put', status, list.put(name, write.record.fields) ? 201 : 200);
      } else if (!known) {
        same(`status of a ${write.kind} of what is not there`, status, 404);
        return;
      } else if (write.kind === 'delete') {
        same('status of a delete', status, 204);
        list.delete(name);
        this.#ids[write.list]?.delete(name);
        return;
      } else if (write.kind === 'patch') {
        same('status of a patch', status, 200);
        list.patch(name, write.fields);
      } else {
        const to = write.record.name;
        if (to !== name && list.find(to) !== undefined) {
          same('status of a name that is taken', status, 409);
          return;
        }
        same('status of a replace', status, 200);
        list.rename(name, to);
        list.put(to, write.record.fields);
      }
      this.#written(write, body, text);
    };
  }

  #answerTo(write: Write, path: string, id: string): Promise<Answer> {
    switch (write.kind) {
      case 'put':
        return this.#client.post(path, write.flat ? { name: write.record.name, ...write.record.fields } : write.record);
      case 'patch':
        return this.#client.patch(`${path}/${id}`, { fields: write.fields });
      case 'delete':
        return this.#client.delete(`${path}/${id}`);
      case 'replace':
        return this.#client.put(`${path}/${id}`, write.record);
    }
  }

  #written(write: Exclude<Write, { kind: 'delete' }>, body: unknown, text: string): void {
    const name = write.kind === 'patch' ? write.name : write.record.name;
    const { id, name: answered, fields } = body as { id: string; name: string; fields: object };
    same('name of what was written', answered, name);
    const expected = Object.fromEntries(this.#list(write.list).find(name)?.fields ?? []);
    same(`fields of what was written (${text.length} bytes)`.replace(/ \(.*/, ''), { ...fields }, expected);
    const ids = this.#ids[write.list];
    if (write.kind === 'replace' && write.name !== name) ids?.delete(write.name);
    ids?.set(name, id);
  }

  /** `NO_ID` where the list has no such record. */
  async #idOf(list: number, name: string): Promise<string> {
    if (this.#list(list).find(name) === undefined) return NO_ID;
    const ids = this.#ids[list];
    if (ids?.get(name) === undefined) for (const record of await this.#listing(list)) ids?.set(record.name, record.id);
    return ids?.get(name) ?? NO_ID;
  }

  async #listing(list: number) {
    const records: { id: string; name: string; fields: Record<string, Value> }[] = [];
    let after: string | undefined;
    do {
      const query = { size: LISTING_SIZE * (1 + (records.length % 50)), ...(after === undefined ? {} : { after }) };
      const { body } = await this.#expect(this.#client.get(this.#records(list), query), 200);
      const page = body as { results: typeof records; next?: string };
      records.push(...page.results);
      after = page.next;
    } while (after !== undefined);
    return records;
  }

  async #bulk({ list, records, format }: Extract<Operation, { kind: 'bulk' }>): Promise<void> {
    const flat = ({ name, fields }: NewRecord) => ({ name, ...fields });
    const sent =
      format === 'json'
        ? this.#client.bulk('default', this.#name(list), JSON.stringify(records), 'application/json')
        : this.#client.bulk('default', this.#name(list), format === 'flat' ? records.map(flat) : records);
    const { body } = await this.#expect(sent, 200);
    const reference = this.#list(list);
    const fitting = records.filter(({ fields }) => !reference.refuses(fields));
    const created = fitting.filter(({ name, fields }) => reference.put(name, fields)).length;
    const { created: made, updated, failed, errors } = body as Record<string, unknown>;
    const refused = records.length - fitting.length;
    same(
      'outcome of a bulk call',
      { made, updated, failed, errors: (errors as readonly unknown[]).length },
      { made: created, updated: fitting.length - created, failed: refused, errors: refused },
    );
  }

  async #deleteMatching({ list, filter, style }: Extract<Operation, { kind: 'delete-matching' }>): Promise<void> {
    const reference = this.#list(list);
    const text = writeFilter(filter, styleOf(style));
    const { status, body } = await this.#client.delete(this.#records(list), { filter: text });
    const known = filterFields(filter).every((field) => reference.facet(field) !== undefined);
    // A query string is shorter than what a body takes.
    if (text.length > 4096) return same('status of a delete by a long filter', status, 400);
    same('status of a delete by filter', status, known ? 200 : 400);
    if (!known) return;
    const gone = reference.search({ filter });
    same('records that a filter deleted', (body as { deleted: number }).deleted, gone.length);
    for (const { name } of gone) {
      reference.delete(name);
      this.#ids[list]?.delete(name);
    }
  }

  async #together(writes: readonly Write[], search: Search): Promise<void> {
    // Ids first: looking for them is no part of what goes on at once.
    for (const write of writes) if (write.kind !== 'put') await this.#idOf(write.list, write.name);
    const searches = [this.#answer(search, search.skip, search.size), this.#answer(search, search.skip, search.size)];
    const settled = await Promise.all(writes.map((write) => this.#sent(write)));
    for (const settle of settled) await settle();
    for (const { status } of await Promise.all(searches))
      holdsTrue('status beside writes', [200, 400, 404].includes(status), () => status);
    await this.#search(search);
  }

  async #define(list: number, definition: Definition): Promise<void> {
    const reference = this.#list(list);
    const path = `/list/default/${this.#name(list)}`;
    await this.#expect(this.#client.put(path, fieldsOf(definition)), 200);
    const ready = await eventually(
      async () => (await this.#client.get(path)).body as { current_version: number; versions: { state: string }[] },
      ({ versions }) => versions.every(({ state }) => state === 'ready'),
    );
    if (shown(fieldsOf(reference.definition)) === shown(fieldsOf(definition))) {
      same('version that nothing has changed for', ready.current_version, reference.version);
      return;
    }
    reference.frozen.set(reference.version, reference.copy());
    reference.version += 1;
    if (this.#memberLists.includes(list)) this.#isPinned = false;
    same('version after a change', ready.current_version, reference.version);
    reference.frozen.delete(reference.version - VERSIONS_KEPT - 1);
    reference.redefine(definition);
  }

  async #synonyms({ list, rules }: Extract<Operation, { kind: 'synonyms' }>): Promise<void> {
    await this.#expect(this.#client.put(`/list/synonyms/default/${this.#name(list)}`, { rules }), 200);
    this.#list(list).rules = rules;
  }

  async #queryRules({ list, rules }: Extract<Operation, { kind: 'query-rules' }>): Promise<void> {
    const query_rules = rules.map(({ name, word, field, value, keep }) => {
      const filter = writeFilter({ kind: 'compare', field, by: '=', value }, styleOf(name.length));
      return { name, pattern: String.raw`\b${word}\b`, filter, keep };
    });
    const isKnown = rules.every(({ field }) => this.#list(list).facet(field) !== undefined);
    const { status, text } = await this.#client.put(`/list/default/${this.#name(list)}`, { query_rules });
    same('status of query rules', [status, status < 300 || !isKnown ? '' : text], [isKnown ? 200 : 400, '']);
    if (isKnown) this.#list(list).queryRules = rules;
  }

  async #changeMembers(lists: readonly number[]): Promise<void> {
    if (String(lists) !== String(this.#memberLists)) this.#isPinned = true;
    this.#memberLists = lists.filter((list) => list < this.#lists.length);
    await this.#expect(this.#client.put(`/list-group/default/${this.prefix}`, { lists: this.#members() }), 200);
  }

  async #throughCsv(list: number): Promise<void> {
    const reference = this.#list(list);
    // What a facet does not take is refused here as anywhere.
    if (reference.records.some(({ fields }) => reference.refuses(Object.fromEntries(fields)))) return;
    const columns = columnsOf(reference);
    const text = csvOf(await this.#listing(list), columns);
    const { body } = await this.#expect(this.#client.bulk('default', this.#name(list), text, 'text/csv'), 200);
    const { created, updated, errors } = body as Record<string, unknown>;
    same('outcome of a CSV', [created, updated, errors], [0, reference.records.length, []]);
    for (const record of reference.records) reference.put(record.name, broughtBack(record, columns));
    await this.#readAll(list);
  }

  /** What was acknowledged is there; of anything else, each record is as it was or as it was sent. */
  async #kill({ list, writes }: Extract<Operation, { kind: 'kill' }>): Promise<void> {
    const reference = this.#list(list);
    const before = reference.copy();
    const sent = writes.map(async (records) => {
      try {
        const [first] = records;
        const isAlone = records.length === 1 && first !== undefined;
        const answer = await (isAlone
          ? this.#client.post(this.#records(list), first)
          : this.#client.bulk('default', this.#name(list), records));
        return answer.status < 300 ? records : [];
      } catch {
        return [];
      }
    });
    await Promise.race(sent);
    await this.#restart('SIGKILL');
    const acknowledged = (await Promise.all(sent)).flat();
    for (const { name, fields } of writes.flat()) if (!reference.refuses(fields)) reference.put(name, fields);
    const found = await this.#listing(list);
    for (const { name } of reference.records) {
      const is = found.find((record) => record.name === name)?.fields;
      const [old, made] = [before, reference].map((each) => each.find(name)?.fields);
      const asMade = isDeepStrictEqual({ ...is }, Object.fromEntries(made ?? []));
      if (asMade) continue;
      holdsTrue('acknowledged before a kill', !acknowledged.some((record) => record.name === name), () => [name, is]);
      same('record that a kill interrupted', is && { ...is }, old && Object.fromEntries(old));
      if (old === undefined) reference.delete(name);
      else reference.put(name, Object.fromEntries(old));
    }
    this.#ids[list]?.clear();
    await this.#readAll(list);
  }

  async #clone(from: number, to: number): Promise<void> {
    await this.#expect(this.#client.delete(`/list/default/${this.#name(to)}`), 204);
    this.#counted.gone(`list/${this.#name(to)}`);
    await this.#expect(this.#client.post(`/list/default/${this.#name(from)}/clone`, { name: this.#name(to) }), 201);
    await this.#expect(this.#client.put(`/list-group/default/${this.prefix}`, { lists: this.#members() }), 200);
    await this.#otherWays.listIsGone(this.#name(to));
    this.#lists[to] = this.#list(from).copy();
    this.#ids[to] = new Map();
  }

  async #reindex(list: number): Promise<void> {
    await this.#expect(this.service.control().send('POST', `/list/default/${this.#name(list)}/reindex`), 200, 202);
  }

  async #readAll(list: number): Promise<void> {
    const records = await this.#listing(list);
    const reference = this.#list(list);
    same('records of a list', records.map(({ name }) => name).sort(), reference.records.map(({ name }) => name).sort());
    for (const { name, fields } of records)
      same('fields of a record', { ...fields }, Object.fromEntries(reference.find(name)?.fields ?? []));
    const { body } = await this.#expect(this.#client.get(`/list/default/${this.#name(list)}`), 200);
    same('record_count', (body as { record_count: number }).record_count, records.length);
  }

  async #restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#counted.restarted();
    await this.service.stop(signal);
    await this.service.start();
  }

  async #search(search: Search): Promise<void> {
    const lists = this.#searched(search);
    const answer = await this.#answer(search, search.skip, search.size);
    if (lists === undefined) return same('status of a version that is gone', answer.status, 404);
    if (isRefused(search, lists)) return same('status of an unknown field', answer.status, 400);
    same('status of a search', [answer.status, answer.status === 200 ? '' : answer.text], [200, '']);
    const check = new SearchCheck(search, lists);
    check.answer(answer.body as SearchAnswer);
    await this.#again(search, answer.body as SearchAnswer);
    await this.#inOtherWays(search);
    await this.#companions(search, answer.body as SearchAnswer);
    if (search.style % 7 === 0) await this.#counted.click(this.#client, this.#targetOf(search), answer);
    if (!search.paged || search.size === 0) return;
    const hits = await this.#pages(search, check);
    // No score has a part in the order: nothing moves as long as nothing is written, whatever is merged (docs/decisions/0355).
    if (search.query !== undefined || check.total > HITS_MAX) return;
    const whole = (await this.#answer(search, 0, HITS_MAX, { cache: false })).body as SearchAnswer;
    same('hits of pages one behind the other', hits.map(keyOfHit), whole.results.map(keyOfHit));
  }

  /** All pages one behind the other. */
  async #pages(search: Search, check: SearchCheck): Promise<Hit[]> {
    const isByScore = search.query !== undefined;
    for (let tries = 1; ; tries += 1) {
      const hits: Hit[] = [];
      for (let skip = 0; skip < check.total; skip += search.size) {
        const { body } = await this.#expect(this.#answer(search, skip, search.size), 200);
        hits.push(...(body as SearchAnswer).results);
      }
      try {
        check.pages(hits);
        return hits;
      } catch (error) {
        // A merge may have moved hits from one page to another (docs/decisions/0355); a fault would be there each time.
        if (!isByScore || !(error instanceof Difference) || tries === PAGING_TRIES_MAX) throw error;
      }
    }
  }

  /** The same request has the same answer, from memory or not; and a floor leaves out what is below it, and nothing else. */
  async #again(search: Search, first: SearchAnswer): Promise<void> {
    if (search.style % 3 > 0) return;
    const again = async (what: object) =>
      (await this.#expect(this.#answer(search, 0, HITS_MAX, what), 200)).body as SearchAnswer;
    const all = await again({ cache: false });
    same('total_count of another page', all.total_count, first.total_count);
    const floor = all.results[search.style % Math.max(1, all.results.length)]?.['@text_score'];
    if (floor === undefined || all.total_count > HITS_MAX) return;
    const above = await again({ minimum_text_score: floor });
    const expected = all.results.filter((hit) => (hit['@text_score'] ?? 0) >= floor).map(keyOfHit);
    // A merge that drops what was deleted changes the scores of what is left a little.
    if (!isDeepStrictEqual((await again({})).results.map(keyOfHit), all.results.map(keyOfHit))) return;
    same('what is above a floor', above.results.map(keyOfHit), expected);
    same('total_count above a floor', above.total_count, expected.length);
  }

  /** Undefined where the version is gone or never was. */
  #searched({ target }: Search): Searched[] | undefined {
    if (target === 'group') return this.#memberLists.map((at) => ({ name: this.#name(at), list: this.#list(at) }));
    const list = this.#list(target.list);
    if (target.back === 0) return [{ name: this.#name(target.list), list }];
    const frozen = list.frozen.get(list.version - target.back);
    // Rules are the list's, not a version's.
    if (frozen !== undefined) [frozen.rules, frozen.queryRules] = [list.rules, list.queryRules];
    return frozen && [{ name: this.#name(target.list), list: frozen }];
  }

  #targetOf({ target }: Search): string {
    return target === 'group' ? `group/${this.prefix}` : `list/${this.#name(target.list)}`;
  }

  /** Neither is counted as a search. */
  async #companions({ target, query, filter, style }: Search, { results }: SearchAnswer): Promise<void> {
    if (target === 'group' || target.back > 0 || style % 4 > 0) return;
    const list = this.#list(target.list);
    const place = { path: `default/${this.#name(target.list)}/${list.version}`, list };
    if (query !== undefined)
      await checkSuggestions(
        this.#client,
        place,
        query.words
          .join(' ')
          .slice(0, 1 + (style % 9))
          .trim(),
      );
    await checkRelated(this.#client, place, { name: results[0]?.name ?? 'not there', filter });
  }

  #inOtherWays(search: Search): Promise<void> {
    const { target, style } = search;
    const list = target === 'group' ? undefined : this.#name(target.list);
    const members = this.#memberLists.map((each) => this.#name(each));
    const counted = (body: SentSearch['body'], answer: Answer) =>
      this.#counted.searched(this.#targetOf(search), body, answer);
    return this.#otherWays.check(this.#sentAs(search, search.skip, search.size), {
      style,
      list,
      members,
      isPinned: this.#isPinned,
      counted,
    });
  }

  async #answer(search: Search, skip: number, size: number, more: object = {}): Promise<Answer> {
    const { path, body } = this.#sentAs(search, skip, size, more);
    const answer = await this.#client.post(path, body);
    this.#counted.searched(this.#targetOf(search), body, answer);
    return answer;
  }

  #sentAs(search: Search, skip: number, size: number, more: object = {}): SentSearch {
    const { target, filter, query, radius, order, facets, facetSize, select } = search;
    const path =
      target === 'group'
        ? `/search/group/default/${this.prefix}/latest`
        : `/search/default/${this.#name(target.list)}/${Math.max(0, this.#list(target.list).version - target.back)}`;
    const body = {
      skip,
      size,
      facets,
      facet_size: facetSize,
      typo_tolerance: query?.typos ?? true,
      ...(filter && { filter: writeFilter(filter, styleOf(search.style)) }),
      ...(query && { query: query.words.join(' '), match: query.match }),
      ...(radius && { radius: { ...radius.centre, distance: radius.metres } }),
      ...(order.length > 0 && {
        order_by: order.map(({ by, direction }) => `${/^\w+$/.test(by) ? by : `\`${by}\``} ${direction}`).join(', '),
      }),
      ...(select && { select }),
      ...more,
    };
    return { path, body };
  }
}

const keyOfHit = ({ list_name: list, name, '@text_score': score }: Hit) => [list, name, score];

function styleOf(seed: number): (ways: number) => number {
  const random = new SeededRandom(seed);
  return (ways) => random.below(ways);
}

function fieldsOf({ searchable, facets, location }: Definition) {
  return { searchable_fields: searchable.map((name) => ({ name, weight: 1 })), facets, location_field: location };
}
