/** Runs a sequence against the real service and the reference in parallel. */
import type { Answer } from '../support/client.js';
import { adapted } from './adapted-writes.js';
import { contend } from './contended-writes.js';
import { broughtBack, columnsOf, csvOf } from './csv-round-trip.js';
import { Difference, holdsTrue, same } from './difference.js';
import { walk } from './listing-walk.js';
import type { AccountStep, Operation, Search, Sequence, Write } from './operations.js';
import { checkPreview } from './preview-check.js';
import { filterFields, styleOf, writeFilter, writtenRule } from './reference-filter.js';
import { ReferenceList, type Model } from './reference-list.js';
import type { Definition } from './reference-values.js';
import { asSent, listingOf, readAll, recordsOf } from './replay-listing.js';
import { answered, ReplayState, type ReplayParts } from './replay-state.js';
import { bulk } from './replayed-bulk.js';
import { ChangedAmidKill, WrittenAmidKill } from './replayed-kill.js';
import { fieldsOf, redefined } from './replayed-fields.js';
import { ReplayedGroup } from './replayed-group.js';
import { ToldAccount } from './told-account.js';
import { ToldEvents, type Told } from './told-events.js';
import { ToldSettings } from './told-settings.js';
import { ReplayedSearches } from './replayed-searches.js';

const NO_ID = '01900000-0000-7000-8000-000000000000';

/** Runs a sequence. Its lists and its group have `prefix` in their names and are deleted at the end. */
export async function replay(parts: ReplayParts, prefix: string, sequence: Sequence): Promise<void> {
  const run = new Replay(new ReplayState(parts, prefix));
  try {
    await run.begin(sequence);
    for (const [at, operation] of sequence.operations.entries()) {
      try {
        await run.step(operation, at + 1);
      } catch (error) {
        if (error instanceof Difference) throw new Difference(error.what, `${error.message} (operation ${at})`);
        throw error;
      }
    }
    await run.checkVectors();
    await run.checkReports();
    await run.checkEvents();
  } finally {
    await run.end(sequence.definitions.length);
  }
}

class Replay {
  readonly #ids: Map<string, string>[] = [];
  readonly #searches: ReplayedSearches;
  readonly #group: ReplayedGroup;

  readonly #state: ReplayState;

  constructor(state: ReplayState) {
    this.#state = state;
    this.#searches = new ReplayedSearches(this.#state);
    this.#group = new ReplayedGroup(this.#state);
  }

  async begin({ definitions, models, isTold = false, operations }: Sequence): Promise<void> {
    const { receiver, service, prefix } = this.#state;
    if (isTold) {
      this.#state.told = await ToldEvents.begin(receiver, service, prefix);
      this.#state.toldSettings = await ToldSettings.begin(this.#state);
      const isOfAccount = operations.some(({ kind }) => kind === 'account');
      if (isOfAccount) this.#state.toldAccount = await ToldAccount.begin(this.#state);
    }
    for (const [list, definition] of definitions.entries()) {
      await answered(
        this.#state.client.post('/list/default', {
          name: this.#state.name(list),
          language: 'none',
          model: models[list] ?? null,
          ...fieldsOf(definition),
        }),
        201,
      );
      this.#state.lists.push(new ReferenceList(definition, models[list] ?? null));
      this.#ids.push(new Map());
    }
    await this.#group.begin(definitions.map((_, list) => ({ list })));
    this.#state.toldSettings?.observe(this.#state);
  }

  async end(lists: number): Promise<void> {
    await this.#state.told?.end();
    await this.#state.toldSettings?.end();
    await this.#state.toldAccount?.end();
    await this.#state.client.delete(`/list-group/default/${this.#state.prefix}`);
    for (let list = 0; list < lists; list += 1)
      await this.#state.client.delete(`/list/default/${this.#state.name(list)}`);
  }

  async checkVectors(): Promise<void> {
    for (const [list, { model }] of this.#state.lists.entries())
      if (model === 'texts') await readAll(this.#state, list);
  }

  async checkEvents(): Promise<void> {
    await this.#state.told?.check();
    await this.#state.toldSettings?.check();
    await this.#state.toldAccount?.check();
  }

  checkReports(): Promise<void> {
    const lists = this.#state.lists.map((_, list) => `list/${this.#state.name(list)}`);
    return this.#state.counted.check(this.#state.client, [...lists, `group/${this.#state.prefix}`]);
  }

  async step(made: Operation, at: number): Promise<void> {
    for (const list of this.#state.lists) list.now = at;
    const operation = adapted(made, this.#state.lists);
    await this.#perform(operation);
    this.#state.toldSettings?.observe(this.#state, operation);
  }

  #perform(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'search':
        return this.#searches.check(operation);
      case 'put':
      case 'patch':
      case 'replace':
      case 'delete':
        return this.#write(operation);
      case 'bulk':
        return bulk(this.#state, operation);
      case 'walk':
        return walk(this.#state, operation, (write) => this.#write(write));
      case 'contended':
        return this.#contended(operation);
      case 'preview':
        return checkPreview(this.#state, operation);
      case 'delete-matching':
        return this.#deleteMatching(operation);
      case 'together':
        return this.#together(operation.writes, operation.search);
      case 'define':
        return this.#define(operation.list, operation.definition);
      case 'model':
        return this.#changeModel(operation.list, operation.model);
      case 'synonyms':
        return this.#synonyms(operation);
      case 'query-rules':
        return this.#queryRules(operation);
      case 'members':
        return this.#group.change(operation.lists);
      case 'csv':
        return this.#throughCsv(operation.list);
      case 'kill':
        return this.#kill(operation);
      case 'clone':
        return this.#clone(operation.from, operation.to);
      case 'recreate':
        return this.#recreate(operation);
      case 'account':
        return this.#account(operation.steps);
      case 'reindex':
        return this.#reindex(operation.list);
      case 'read-all':
        return readAll(this.#state, operation.list);
      case 'restart':
        return this.#restart(operation.signal);
    }
  }

  async #write(write: Write): Promise<void> {
    await (
      await this.#sent(write)
    )();
  }

  /**
   * Looks up what the write needs, sends it, and resolves with a function that checks the answer and applies the write
   * to the reference.
   */
  async #sent(write: Write): Promise<() => Promise<void>> {
    const list = this.#state.list(write.list);
    const path = recordsOf(this.#state, write.list);
    const name = write.kind === 'put' ? write.record.name : write.name;
    const id = write.kind === 'put' ? NO_ID : await this.#idOf(write.list, name);
    const answer = this.#answerTo(write, path, id);
    return async () => {
      const { status, body, text } = await answer;
      const known = list.find(name) !== undefined;
      const sent = write.kind === 'put' || write.kind === 'replace' ? write.record : write;
      if ('fields' in sent && list.refuses(sent.fields, sent.vectors)) {
        holdsTrue('status of values that do not fit', status === 400 || (!known && status === 404), () => [
          status,
          text,
        ]);
        return;
      }
      if (write.kind === 'put') {
        same('status of a put', status, list.put(name, write.record.fields, write.record.vectors) ? 201 : 200);
      } else if (!known) {
        same(`status of a ${write.kind} of what is not there`, status, 404);
        return;
      } else if (write.kind === 'delete') {
        same('status of a delete', status, 204);
        this.#state.told?.changed(this.#state.name(write.list), 'deleted', list.told(name, id));
        list.delete(name);
        this.#ids[write.list]?.delete(name);
        return;
      } else if (write.kind === 'patch') {
        same('status of a patch', status, 200);
        list.patch(name, write.fields, write.vectors);
      } else {
        const to = write.record.name;
        if (to !== name && list.find(to) !== undefined) {
          same('status of a name that is taken', status, 409);
          return;
        }
        same('status of a replace', status, 200);
        list.rename(name, to);
        list.put(to, write.record.fields, write.record.vectors);
      }
      this.#written(write, body, text);
      const isRenamed = write.kind === 'replace' && write.record.name !== name;
      const change = status === 201 ? 'created' : 'updated';
      this.#state.told?.changed(this.#state.name(write.list), change, body as Told, isRenamed ? name : undefined);
    };
  }

  #answerTo(write: Write, path: string, id: string): Promise<Answer> {
    switch (write.kind) {
      case 'put':
        return this.#state.client.post(
          path,
          write.flat ? { name: write.record.name, ...write.record.fields } : asSent(write.record),
        );
      case 'patch':
        return this.#state.client.patch(`${path}/${id}`, asSent({ fields: write.fields, vectors: write.vectors }));
      case 'delete':
        return this.#state.client.delete(`${path}/${id}`);
      case 'replace':
        return this.#state.client.put(`${path}/${id}`, asSent(write.record));
    }
  }

  #written(write: Exclude<Write, { kind: 'delete' }>, body: unknown, text: string): void {
    const name = write.kind === 'patch' ? write.name : write.record.name;
    const { id, name: answered, fields } = body as { id: string; name: string; fields: object };
    same('name of what was written', answered, name);
    const expected = Object.fromEntries(this.#state.list(write.list).find(name)?.fields ?? []);
    same(`fields of what was written (${text.length} bytes)`.replace(/ \(.*/, ''), { ...fields }, expected);
    const ids = this.#ids[write.list];
    if (write.kind === 'replace' && write.name !== name) ids?.delete(write.name);
    ids?.set(name, id);
  }

  /** Returns the ID of a record, or `NO_ID` if the list has no such record. */
  async #idOf(list: number, name: string): Promise<string> {
    if (this.#state.list(list).find(name) === undefined) return NO_ID;
    const ids = this.#ids[list];
    if (ids?.get(name) === undefined)
      for (const record of await listingOf(this.#state, list)) ids?.set(record.name, record.id);
    return ids?.get(name) ?? NO_ID;
  }

  async #contended(operation: Extract<Operation, { kind: 'contended' }>): Promise<void> {
    await contend(this.#state, operation);
    this.#ids[operation.list]?.clear();
    await readAll(this.#state, operation.list);
  }

  async #deleteMatching({ list, filter, style }: Extract<Operation, { kind: 'delete-matching' }>): Promise<void> {
    const reference = this.#state.list(list);
    const text = writeFilter(filter, styleOf(style));
    const ids = new Map<string, string>();
    const isTold = this.#state.told !== undefined;
    if (isTold) for (const { name } of reference.records) ids.set(name, await this.#idOf(list, name));
    const { status, body } = await this.#state.client.delete(recordsOf(this.#state, list), { filter: text });
    const known = filterFields(filter).every((field) => reference.facet(field) !== undefined);
    // The filter is in the query string, whose limit is lower than that of a body.
    if (text.length > 4096) return same('status of a delete by a long filter', status, 400);
    same('status of a delete by filter', status, known ? 200 : 400);
    if (!known) return;
    const gone = reference.search({ filter });
    same('records that a filter deleted', (body as { deleted: number }).deleted, gone.length);
    for (const { name } of gone) {
      const of = reference.told(name, ids.get(name) ?? '');
      this.#state.told?.changed(this.#state.name(list), 'deleted', of);
      reference.delete(name);
      this.#ids[list]?.delete(name);
    }
  }

  async #together(writes: readonly Write[], search: Search): Promise<void> {
    // Look up the IDs first, so that the lookups are not part of the concurrent requests.
    for (const write of writes) if (write.kind !== 'put') await this.#idOf(write.list, write.name);
    const searches = [
      this.#searches.answer(search, search.skip, search.size),
      this.#searches.answer(search, search.skip, search.size),
    ];
    const settled = await Promise.all(writes.map((write) => this.#sent(write)));
    for (const settle of settled) await settle();
    for (const { status } of await Promise.all(searches))
      holdsTrue('status beside writes', [200, 400, 404].includes(status), () => status);
    await this.#searches.check(search);
  }

  async #define(list: number, definition: Definition): Promise<void> {
    const path = `/list/default/${this.#state.name(list)}`;
    await answered(this.#state.client.put(path, fieldsOf(definition)), 200);
    await redefined(this.#state, list, definition);
  }

  async #changeModel(list: number, model: Model): Promise<void> {
    const reference = this.#state.list(list);
    // Through null: otherwise the old vectors stay in use until there are as many new ones, which may never happen.
    for (const each of reference.model === null ? [model] : [null, model])
      await answered(this.#state.client.put(`/list/default/${this.#state.name(list)}`, { model: each }), 200);
    reference.model = model;
  }

  async #synonyms({ list, rules }: Extract<Operation, { kind: 'synonyms' }>): Promise<void> {
    await answered(this.#state.client.put(`/list/synonyms/default/${this.#state.name(list)}`, { rules }), 200);
    this.#state.list(list).rules = rules;
  }

  async #queryRules({ list, rules }: Extract<Operation, { kind: 'query-rules' }>): Promise<void> {
    const query_rules = rules.map(writtenRule);
    const isKnown = rules.every(({ field }) => this.#state.list(list).facet(field) !== undefined);
    const { status, text } = await this.#state.client.put(`/list/default/${this.#state.name(list)}`, { query_rules });
    same('status of query rules', [status, status < 300 || !isKnown ? '' : text], [isKnown ? 200 : 400, '']);
    if (isKnown) this.#state.list(list).queryRules = rules;
  }

  async #throughCsv(list: number): Promise<void> {
    const reference = this.#state.list(list);
    // An import refuses values that do not fit a facet, as any write does.
    if (reference.records.some(({ fields }) => reference.refuses(Object.fromEntries(fields)))) return;
    const columns = columnsOf(reference);
    const text = csvOf(await listingOf(this.#state, list), columns);
    const { body } = await answered(this.#state.client.bulk('default', this.#state.name(list), text, 'text/csv'), 200);
    const { created, updated, errors } = body as Record<string, unknown>;
    same('outcome of a CSV', [created, updated, errors], [0, reference.records.length, []]);
    this.#state.told?.imported(this.#state.name(list), 0, reference.records.length);
    for (const record of reference.records) reference.put(record.name, broughtBack(record, columns));
    await readAll(this.#state, list);
  }

  async #kill(operation: Extract<Operation, { kind: 'kill' }>): Promise<void> {
    const { list } = operation;
    const changes = new ChangedAmidKill(this.#state, operation.changes ?? []);
    const writes = new WrittenAmidKill(this.#state, operation);
    await Promise.race([...changes.sent, ...writes.sent]);
    await this.#restart('SIGKILL');
    await writes.settle();
    await changes.settle(this.#group);
    this.#ids[list]?.clear();
    await readAll(this.#state, list);
  }

  async #clone(from: number, to: number): Promise<void> {
    const { members } = this.#state.group;
    await this.#deleteList(to);
    await answered(
      this.#state.client.post(`/list/default/${this.#state.name(from)}/clone`, { name: this.#state.name(to) }),
      201,
    );
    this.#state.lists[to] = this.#state.list(from).copy();
    await this.#made(to);
    await this.#group.change(members.map(({ list }) => ({ list })));
  }

  async #recreate({ list, definition, model }: Extract<Operation, { kind: 'recreate' }>): Promise<void> {
    await this.#deleteList(list);
    const made = { name: this.#state.name(list), language: 'none', model, ...fieldsOf(definition) };
    await answered(this.#state.client.post('/list/default', made), 201);
    this.#state.lists[list] = new ReferenceList(definition, model);
    await this.#made(list);
    await this.#group.check();
  }

  async #deleteList(list: number): Promise<void> {
    await answered(this.#state.client.delete(`/list/default/${this.#state.name(list)}`), 204);
    this.#state.counted.gone(`list/${this.#state.name(list)}`);
    this.#state.group.listIsGone(list);
  }

  async #made(list: number): Promise<void> {
    await this.#state.otherWays.listIsGone(this.#state.name(list));
    this.#ids[list] = new Map();
  }

  async #account(steps: readonly AccountStep[]): Promise<void> {
    for (const step of steps) await this.#state.toldAccount?.step(step);
  }

  async #reindex(list: number): Promise<void> {
    await answered(
      this.#state.service.control().send('POST', `/list/default/${this.#state.name(list)}/reindex`),
      200,
      202,
    );
  }

  async #restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#state.counted.restarted();
    await this.#state.service.stop(signal);
    await this.#state.service.start();
  }
}
