/** Runs searches of a sequence: sends each in several forms, and compares every answer with the reference. */
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../support/client.js';
import { checkRelated, checkSuggestions } from './companion-check.js';
import { Difference, same } from './difference.js';
import type { SentSearch } from './other-ways.js';
import type { Search, Target } from './operations.js';
import { filterFields, styleOf, writeFilter } from './reference-filter.js';
import type { SortKey } from './reference-list.js';
import type { Pinned } from './reference-group.js';
import type { Scale } from './reference-vectors.js';
import { storedNames } from './replay-listing.js';
import { answered, type ReplayState } from './replay-state.js';
import { isRefused, SearchCheck, type Hit, type SearchAnswer, type Searched } from './search-check.js';
import { checkCosines, scaleOf } from './vector-check.js';

const PAGING_TRIES_MAX = 4;
const HITS_MAX = 1000;

export class ReplayedSearches {
  constructor(private readonly state: ReplayState) {}

  async check(sent: Search): Promise<void> {
    const lists = this.#searched(sent);
    const timed = await this.#timed(sent, lists ?? []);
    const search = withoutTexts(timed, lists ?? []);
    await this.#withKeyOfGroup(search);
    if (search.vector === undefined || lists === undefined || isRefused(search, lists))
      return this.#check(search, lists);
    for (let tries = 1; ; tries += 1) {
      const scales = await this.#scales(search, lists);
      try {
        const scaled = lists.map((each, at) => ({ ...each, scale: scales[at] }));
        await this.#check(search, scaled);
        return await this.#vectors(search, scaled);
      } catch (error) {
        // If a scale was recalibrated meanwhile, other records are near: try again.
        const isSame = isDeepStrictEqual(await this.#scales(search, lists), scales);
        if (!(error instanceof Difference) || isSame || tries === PAGING_TRIES_MAX) throw error;
      }
    }
  }

  /**
   * Reads the times that the order needs. They are known only of current lists: for old versions, time keys are removed
   * from the order.
   */
  async #timed(search: Search, lists: readonly Searched[]): Promise<Search> {
    const isTime = ({ by }: SortKey) => by === 'created_utc' || by === 'modified_utc';
    if (!search.order.some(isTime)) return search;
    const now = lists.map(({ list }) => this.state.lists.indexOf(list));
    if (now.includes(-1)) return { ...search, order: search.order.filter((key) => !isTime(key)) };
    for (const list of now) await storedNames(this.state, list);
    return search;
  }

  /** Returns the scale of each list whose vectors are compared with that of the search. */
  async #scales({ vector, query }: Search, lists: readonly Searched[]): Promise<(Scale | undefined)[]> {
    const scales: (Scale | undefined)[] = [];
    for (const searched of lists) {
      const isCompared = query?.match !== 'phrase' && searched.list.dimensions === vector?.length;
      scales.push(isCompared ? await scaleOf(this.state, searched) : undefined);
    }
    return scales;
  }

  /** Checks the cosines of hits, and that a list scores the same alone as in the group. */
  async #vectors(sent: Search, lists: readonly Searched[]): Promise<void> {
    // The lists of a group share their values, so each has other hits alone.
    const { distinct: _distinct, ...search } = sent;
    const { vector, target, style, query, filter, searchFields } = search;
    // Words of some fields are looked for without meaning.
    if (vector === undefined || (query !== undefined && searchFields !== undefined)) return;
    const asked = { explain: true, highlight: false };
    const { results } = (await answered(this.answer(search, 0, HITS_MAX, asked), 200)).body as SearchAnswer;
    checkCosines(results, lists, vector, query === undefined);
    if ('list' in target || query !== undefined || style % 2 > 0 || results.length === HITS_MAX) return;
    for (const { name, list, version, scale } of lists) {
      const isKnown = filter === undefined || filterFields(filter).every((field) => list.facet(field) !== undefined);
      if (
        scale === undefined ||
        !isKnown ||
        ((search.radius ?? search.box) !== undefined && list.definition.location === null)
      )
        continue;
      const { body } = this.#sentAs(search, 0, HITS_MAX);
      const { facets: _facets, facet_query: _words, order_by: _order, ...rest } = body;
      const alone = await answered(this.state.client.post(`/search/default/${name}/${version}`, rest), 200);
      this.state.counted.searched(`list/${name}`, rest, alone);
      const ofList = results.filter((hit) => hit.list_name === name);
      const scores = (hits: readonly Hit[]) => new Map(hits.map((hit) => [hit.name, hit['@text_score']]));
      same('scores of a list alone', scores((alone.body as SearchAnswer).results), scores(ofList));
    }
  }

  async #check(search: Search, lists: readonly Searched[] | undefined): Promise<void> {
    const answer = await this.answer(search, search.skip, search.size);
    if (lists === undefined) return same('status of a version that is gone', answer.status, 404);
    if (isRefused(search, lists)) return same('status of an unknown field', answer.status, 400);
    same('status of a search', [answer.status, answer.status === 200 ? '' : answer.text], [200, '']);
    const check = new SearchCheck(search, lists);
    check.answer(answer.body as SearchAnswer);
    await this.#again(search, answer.body as SearchAnswer);
    await this.#asStored(search, answer.body as SearchAnswer);
    await this.#distinct(search, check);
    await this.#inOtherWays(search);
    await this.#companions(search, lists, answer.body as SearchAnswer);
    if (search.style % 7 === 0) await this.state.counted.click(this.state.client, this.#targetOf(search), answer);
    if (!search.paged || search.size === 0) return;
    const hits = await this.#pages(search, check);
    // Without a query, the order does not depend on scores: without writes no hit moves, even if a merge happens
    // (docs/decisions/0355).
    if (search.query !== undefined || check.total > HITS_MAX) return;
    const whole = (await this.answer(search, 0, HITS_MAX, { cache: false })).body as SearchAnswer;
    same('hits of pages one behind the other', hits.map(keyOfHit), whole.results.map(keyOfHit));
  }

  /** Checks that the results are in the order of a listing of all records. */
  async #asStored({ asStored = false, target }: Search, { results }: SearchAnswer): Promise<void> {
    if (!asStored || 'group' in target || target.back > 0) return;
    const places = new Map((await storedNames(this.state, target.list)).map((name, at) => [name, at]));
    const found = results.map(({ name }) => places.get(name) ?? -1);
    same(
      'order in which records are stored',
      found,
      [...found].sort((left, right) => left - right),
    );
  }

  /** Checks that the hits are those of the search without `distinct` that come first of their value. */
  async #distinct(search: Search, check: SearchCheck): Promise<void> {
    const { distinct, ...others } = search;
    if (distinct === undefined || check.matches > HITS_MAX) return;
    for (let tries = 1; ; tries += 1) {
      const all = (await answered(this.answer(others, 0, HITS_MAX), 200)).body as SearchAnswer;
      const firsts = (await answered(this.answer(search, 0, HITS_MAX), 200)).body as SearchAnswer;
      const expected = check.firstOfEachValue(all.results).map(keyOfHit);
      // A merge between the two may have changed scores.
      if (tries < PAGING_TRIES_MAX && !isDeepStrictEqual(firsts.results.map(keyOfHit), expected)) continue;
      return same('hits that come first of their value', firsts.results.map(keyOfHit), expected);
    }
  }

  /** Reads all pages, and checks their hits. */
  async #pages(search: Search, check: SearchCheck): Promise<Hit[]> {
    const isByScore = search.query !== undefined;
    for (let tries = 1; ; tries += 1) {
      const hits: Hit[] = [];
      for (let skip = 0; skip < check.total; skip += search.size) {
        const { body } = await answered(this.answer(search, skip, search.size), 200);
        hits.push(...(body as SearchAnswer).results);
      }
      try {
        check.pages(hits);
        return hits;
      } catch (error) {
        // A merge may have moved hits between pages (docs/decisions/0355); a real fault would fail every time.
        if (!isByScore || !(error instanceof Difference) || tries === PAGING_TRIES_MAX) throw error;
      }
    }
  }

  /**
   * Checks that a repeated request has the same answer, cached or not, and that a minimum score removes exactly the
   * hits below it.
   */
  async #again(search: Search, first: SearchAnswer): Promise<void> {
    const { style, distinct, order, asStored = false } = search;
    if (style % 3 > 0) return;
    const again = async (what: object) =>
      (await answered(this.answer(search, 0, HITS_MAX, what), 200)).body as SearchAnswer;
    const all = await again({ cache: false });
    same('total_count of another page', all.total_count, first.total_count);
    const floor = all.results[style % Math.max(1, all.results.length)]?.['@text_score'];
    if (floor === undefined || all.total_count > HITS_MAX) return;
    // In another order than that of scores, a record above the floor takes the place of one of its value below.
    if (distinct !== undefined && (order.length > 0 || asStored)) return;
    const above = await again({ minimum_text_score: floor });
    const expected = all.results.filter((hit) => (hit['@text_score'] ?? 0) >= floor).map(keyOfHit);
    // A merge that drops deleted records changes the scores of the others slightly.
    if (!isDeepStrictEqual((await again({})).results.map(keyOfHit), all.results.map(keyOfHit))) return;
    same('what is above a floor', above.results.map(keyOfHit), expected);
    same('total_count above a floor', above.total_count, expected.length);
  }

  /** Returns the lists of the target's version; undefined if the version is gone or never existed. */
  #searched({ target }: Search): Searched[] | undefined {
    if ('list' in target) {
      const list = this.state.list(target.list);
      return this.#all([{ list: target.list, reference: list, version: list.version - target.back }]);
    }
    const { group } = this.state;
    if (target.group === 'number') {
      const pinned = group.pinned(group.version - target.back);
      return pinned && this.#all(pinned);
    }
    return this.#all(
      group.members.map(({ list, version }) => {
        const reference = this.state.list(list);
        return { list, reference, version: version ?? reference.version };
      }),
    );
  }

  /** Returns the lists in their versions; undefined if one is gone or was replaced by another list of its name. */
  #all(pinned: readonly Pinned[]): Searched[] | undefined {
    const all = pinned.flatMap(({ list: at, reference, version }): Searched[] => {
      const name = this.state.name(at);
      if (this.state.list(at) !== reference) return [];
      if (version === reference.version) return [{ name, list: reference, version }];
      const frozen = reference.frozen.get(version);
      if (frozen === undefined) return [];
      // Rules and the model belong to the list, not to its version.
      [frozen.rules, frozen.queryRules, frozen.model] = [reference.rules, reference.queryRules, reference.model];
      return [{ name, list: frozen, version, dimensions: reference.dimensions }];
    });
    return all.length === pinned.length ? all : undefined;
  }

  /** Checks that a key of the group, in an old version, finds only records of lists that are still members. */
  async #withKeyOfGroup(sent: Search): Promise<void> {
    const { target } = sent;
    if (!('group' in target) || target.group === 'latest') return;
    const { group, otherWays, prefix, counted } = this.state;
    const pinned = group.pinned(group.version - target.back);
    const lists = pinned && this.#all(group.present(pinned));
    // Not the caller's lists: the version may be gone with a list that the key does not see.
    const search = await this.#timed(sent, lists ?? []);
    const { path, body } = this.#sentAs(search, search.skip, search.size);
    const answer = await (await otherWays.ofGroup()).post(path, body);
    counted.searched(`group/${prefix}`, body, answer);
    if (lists === undefined) return same('status of a version that is gone, to a key', answer.status, 404);
    if (search.vector !== undefined) return;
    if (isRefused(search, lists)) return same('status of an unknown field, to a key', answer.status, 400);
    same('status of a search by a key', [answer.status, answer.status === 200 ? '' : answer.text], [200, '']);
    new SearchCheck(search, lists).answer(answer.body as SearchAnswer);
  }

  #targetOf({ target }: Search): string {
    return 'group' in target ? `group/${this.state.prefix}` : `list/${this.state.name(target.list)}`;
  }

  /** Checks suggestions or related records; neither counts as a search. */
  async #companions(
    { target, query, filter, skip, style }: Search,
    lists: readonly Searched[],
    { results }: SearchAnswer,
  ) {
    if (style % 4 > 0 || ('group' in target ? target.group !== 'latest' : target.back > 0)) return;
    const isOfSuggestions = style % 8 === 0;
    const { client, prefix } = this.state;
    const typed = query?.words.join(' ').slice(0, 1 + (style % 9));
    const ofGroup = { path: `group/default/${prefix}/latest`, members: lists };
    const [only] = lists;
    const ofList = only && { path: `default/${only.name}/${only.version}`, members: lists };
    const asked = 'group' in target ? ofGroup : ofList;
    if (isOfSuggestions && typed !== undefined && asked !== undefined)
      await checkSuggestions(client, { ...asked, typed: typed.trim(), few: 1 + (style % 7) });
    if (isOfSuggestions || 'group' in target || ofList === undefined || only === undefined) return;
    const name = results[0]?.name ?? 'not there';
    await checkRelated(client, { ...ofList, list: only.list }, { name, filter, skip, size: style % 5 });
  }

  #inOtherWays(search: Search): Promise<void> {
    const { target, style } = search;
    if ('group' in target && target.group === 'number') return Promise.resolve();
    const list = 'group' in target ? undefined : this.state.name(target.list);
    const { group } = this.state;
    const members = group.members.map((each) => this.state.name(each.list));
    const counted = (body: SentSearch['body'], answer: Answer) =>
      this.state.counted.searched(this.#targetOf(search), body, answer);
    return this.state.otherWays.check(this.#sentAs(search, search.skip, search.size), {
      style,
      list,
      members,
      isPinned: group.latest.every(({ reference, version }) => version === reference.version),
      counted,
    });
  }

  async answer(search: Search, skip: number, size: number, more: object = {}): Promise<Answer> {
    const { path, body } = this.#sentAs(search, skip, size, more);
    const answer = await this.state.client.post(path, body);
    this.state.counted.searched(this.#targetOf(search), body, answer);
    return answer;
  }

  #pathOf(target: Target): string {
    if ('list' in target)
      return `/search/default/${this.state.name(target.list)}/${Math.max(0, this.state.list(target.list).version - target.back)}`;
    const { group, prefix } = this.state;
    const version = target.group === 'latest' ? 'latest' : String(Math.max(0, group.version - target.back));
    return `/search/group/default/${prefix}/${version}`;
  }

  #sentAs(search: Search, skip: number, size: number, more: object = {}): SentSearch {
    const { target, filter, query, radius, box, vector, exact, order, facets, facetSize, select } = search;
    const path = this.#pathOf(target);
    const body = {
      skip,
      size,
      facets,
      facet_size: facetSize,
      ...(search.facetQuery && { facet_query: search.facetQuery.join(' ') }),
      ...(search.disjunctive === true && { disjunctive_facets: true }),
      ...(search.searchFields && { search_fields: search.searchFields }),
      ...(search.distinct !== undefined && { distinct: search.distinct }),
      typo_tolerance: query?.typos ?? true,
      ...(filter && { filter: writeFilter(filter, styleOf(search.style)) }),
      ...(query && { query: query.words.join(' '), match: query.match }),
      ...(search.byWords === true && { vector_search: false }),
      ...(vector && { vector, exact: exact ?? false }),
      ...(radius && { radius: { ...radius.centre, distance: radius.metres } }),
      ...(box && { box }),
      ...(order.length > 0 && {
        order_by: order.map(writtenKey).join(', '),
      }),
      ...(select && { select }),
      ...(search.asStored === true && { ranking: 'none' }),
      ...more,
    };
    return { path, body };
  }
}

/** Searches lists with a text model by words only, since the reference cannot tell what the model finds. */
function withoutTexts(search: Search, lists: readonly Searched[]): Search {
  if (lists.every(({ list }) => list.model !== 'texts')) return search;
  const { vector: _, ...others } = search;
  return { ...others, byWords: true };
}

const writtenKey = ({ by, direction, quoted = false }: SortKey) =>
  `${!quoted && /^\w+$/.test(by) ? by : `\`${by}\``} ${direction}`;

const keyOfHit = ({ list_name: list, name, '@text_score': score }: Hit) => [list, name, score];
