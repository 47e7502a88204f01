/**
 * Changes settings, copies, creates and deletes lists, changes groups, and searches all of them until the service
 * dies. Runs next to `WriteLoad`, which writes records and builds versions.
 */
import type { SeededRandom } from '../support/random.js';
import type { ServiceClient } from '../support/client.js';
import { DyingLoad } from './dying-load.js';
import { ACCOUNT, LIST } from './write-load.js';

export const GROUP = 'all';
const CLONES = 2;
const SHORT_LIVED = 2;

/** The value after acknowledged changes, and the value that an unanswered change may have made of it. */
export class Changing<Value> {
  private pending: { readonly value: Value } | undefined;
  constructor(public value: Value) {}

  begin(value: Value): void {
    this.pending = { value };
  }
  acknowledge(): void {
    if (this.pending !== undefined) this.value = this.pending.value;
    this.pending = undefined;
  }
  /** The answer said that the change was not made. */
  refused(): void {
    this.pending = undefined;
  }
  /** Returns a problem, or undefined. The actual value is what is expected from then on. */
  compare(actual: Value, what: string): string | undefined {
    const allowed = [this.value, ...(this.pending === undefined ? [] : [this.pending.value])];
    const known = allowed.some((value) => JSON.stringify(value) === JSON.stringify(actual));
    this.value = actual;
    this.pending = undefined;
    return known ? undefined : `${what} is ${JSON.stringify(actual)}, and not one of ${JSON.stringify(allowed)}`;
  }
}

/** The expectations over all rounds. */
export class ExpectedChanges {
  readonly synonyms = new Changing<string | undefined>(undefined);
  readonly language = new Changing('en');
  /** By name: whether the list exists. */
  readonly lists = new Map<string, Changing<boolean>>();
  groupVersion = 1;

  list(name: string): Changing<boolean> {
    let list = this.lists.get(name);
    if (list === undefined) {
      list = new Changing(false);
      this.lists.set(name, list);
    }
    return list;
  }
}

export interface ChangeLoadOptions {
  readonly client: ServiceClient;
  readonly expected: ExpectedChanges;
  readonly random: SeededRandom;
  /** Returns a number that was never given out before. */
  readonly next: () => number;
}

export class ChangeLoad extends DyingLoad {
  constructor(private readonly options: ChangeLoadOptions) {
    super();
  }

  async run(): Promise<void> {
    const actors = [
      () => this.changeSynonyms(),
      () => this.changeLanguage(),
      ...Array.from({ length: CLONES }, (_, index) => () => this.cloneAndDelete(`clone-${index}`)),
      ...Array.from({ length: SHORT_LIVED }, (_, index) => () => this.createAndDelete(`short-${index}`)),
      () => this.changeGroup(),
      () => this.search(),
      () => this.readLists(),
    ];
    await this.repeatAll(actors);
  }

  private async changeSynonyms(): Promise<void> {
    const { client, expected, next } = this.options;
    const term = `word${next()}`;
    expected.synonyms.begin(term);
    const rules = [{ kind: 'equivalent', terms: [term, 'same'] }];
    await this.ask([200], client.put(`/list/synonyms/${ACCOUNT}/${LIST}`, { rules }), 'synonyms');
    expected.synonyms.acknowledge();
  }

  private async changeLanguage(): Promise<void> {
    const { client, expected, random } = this.options;
    const language = random.pick(['en', 'de', 'fr']);
    expected.language.begin(language);
    await this.ask([200], client.put(`/list/${ACCOUNT}/${LIST}`, { language }), 'language');
    expected.language.acknowledge();
  }

  private async cloneAndDelete(name: string): Promise<void> {
    const { client, expected } = this.options;
    const list = expected.list(name);
    if (!list.value) {
      list.begin(true);
      await this.ask([201], client.post(`/list/${ACCOUNT}/${LIST}/clone`, { name }), 'clone');
      list.acknowledge();
    }
    await this.ask([200], client.get(`/search/${ACCOUNT}/${name}/1`, { query: 'title' }), 'search of a clone');
    await this.delete(name);
  }

  private async createAndDelete(name: string): Promise<void> {
    const { client, expected, next } = this.options;
    const list = expected.list(name);
    if (!list.value) {
      list.begin(true);
      const fields = { searchable_fields: [{ name: 'title' }] };
      await this.ask([201], client.post(`/list/${ACCOUNT}`, { name, ...fields }), 'creation');
      list.acknowledge();
    }
    const path = `/search-result/${ACCOUNT}/${name}`;
    // The deletion is sent in the middle of these.
    const writes = Array.from({ length: 3 }, () =>
      this.ask([201, 404], client.post(path, { fields: { title: `word${next()}` } }), 'write beside a deletion'),
    );
    await Promise.all([...writes, this.delete(name)]);
  }

  private async delete(name: string): Promise<void> {
    const { client, expected } = this.options;
    const list = expected.list(name);
    list.begin(false);
    await this.ask([204], client.delete(`/list/${ACCOUNT}/${name}`), 'deletion');
    list.acknowledge();
  }

  private async changeGroup(): Promise<void> {
    const { client, expected, random } = this.options;
    const others = [...expected.lists.keys()].filter(() => random.below(2) === 0);
    const lists = [LIST, ...others].map((list) => ({ list }));
    // 404: one of them has just been deleted.
    const { status, body } = await this.ask(
      [200, 404],
      client.put(`/list-group/${ACCOUNT}/${GROUP}`, { lists }),
      'group',
    );
    if (status === 200) expected.groupVersion = (body as { current_version: number }).current_version;
  }

  private async search(): Promise<void> {
    const { client } = this.options;
    const query = { query: 'title same' };
    const { body } = await this.ask([200], client.get(`/list/${ACCOUNT}/${LIST}`), 'list');
    const { current_version: version } = body as { current_version: number };
    // 404: the version was dropped, or a list of the group was deleted.
    await this.ask([200, 404], client.get(`/search/${ACCOUNT}/${LIST}/${version}`, query), 'search');
    await this.ask([200, 404], client.get(`/search/group/${ACCOUNT}/${GROUP}/latest`, query), 'search of the group');
  }

  private async readLists(): Promise<void> {
    await this.ask([200], this.options.client.get(`/list/${ACCOUNT}`), 'lists');
  }
}

/** Returns the problems after a restart; empty if everything is as it was acknowledged. */
export async function compareChanges(client: ServiceClient, expected: ExpectedChanges): Promise<string[]> {
  const problems: (string | undefined)[] = [];
  const { body: read } = await client.get(`/list/${ACCOUNT}/${LIST}`);
  const { language, synonym_rules: rules } = read as { language: string; synonym_rules: { terms: string[] }[] };
  problems.push(expected.language.compare(language, 'the language'));
  problems.push(expected.synonyms.compare(rules[0]?.terms[0], 'the synonym rule'));
  const { body: all } = await client.get(`/list/${ACCOUNT}`);
  const names = new Set((all as { lists: { name: string }[] }).lists.map(({ name }) => name));
  for (const [name, list] of expected.lists) problems.push(list.compare(names.has(name), `that ${name} is there`));
  for (const name of names) {
    const check = await client.send('POST', `/list/${ACCOUNT}/${name}/check`);
    if (check.status !== 200 || !(check.body as { ok: boolean }).ok) problems.push(`${name}: ${check.text}`);
  }
  const { body: group } = await client.get(`/list-group/${ACCOUNT}/${GROUP}`);
  const { current_version: version, lists } = group as { current_version: number; lists: { list: string }[] };
  if (version < expected.groupVersion) problems.push(`the group is at ${version}, after ${expected.groupVersion}`);
  expected.groupVersion = version;
  if (!lists.some(({ list }) => list === LIST)) problems.push('the group has lost its list');
  for (const { list } of lists) if (!names.has(list)) problems.push(`the group has the list ${list}, which is gone`);
  const found = await client.get(`/search/group/${ACCOUNT}/${GROUP}/latest`, { query: 'title' });
  if (found.status !== 200) problems.push(`search of the group: ${found.status} ${found.text}`);
  return problems.filter((problem) => problem !== undefined);
}
