/**
 * Kills the service during writes and changes of settings: what was acknowledged must exist; anything else must be
 * either as before or as sent.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../support/client.js';
import { holdsTrue, same } from './difference.js';
import type { NewRecord, Operation, SettingsChange } from './operations.js';
import { writtenRule } from './reference-filter.js';
import type { ReferenceList } from './reference-list.js';
import { asKnown, asListed, asSent, listingOf, recordsOf } from './replay-listing.js';
import { answered, type ReplayState } from './replay-state.js';
import { fieldsOf, listAtRest, redefined } from './replayed-fields.js';
import type { ReplayedGroup } from './replayed-group.js';

type Kill = Extract<Operation, { kind: 'kill' }>;

export class WrittenAmidKill {
  /** For each call, resolves with its records if it was acknowledged, or else with none. */
  readonly sent: readonly Promise<readonly NewRecord[]>[];
  readonly #list: number;
  readonly #writes: Kill['writes'];
  readonly #before: ReferenceList;

  constructor(
    private readonly state: ReplayState,
    { list, writes }: Kill,
  ) {
    this.#list = list;
    this.#writes = writes;
    this.#before = state.list(list).copy();
    this.sent = writes.map(async (records) => {
      const [first] = records;
      const isAlone = records.length === 1 && first !== undefined;
      const answer = await unlessCut(
        isAlone
          ? state.client.post(recordsOf(state, list), asSent(first))
          : state.client.bulk('default', state.name(list), records.map(asSent)),
      );
      return answer !== undefined && answer.status < 300 ? records : [];
    });
  }

  /** Call after the service has started again. Checks each record, and sets the reference to what was found. */
  async settle(): Promise<void> {
    const reference = this.state.list(this.#list);
    const acknowledged = (await Promise.all(this.sent)).flat();
    for (const { name, fields, vectors } of this.#writes.flat())
      if (!reference.refuses(fields, vectors)) reference.put(name, fields, vectors);
    const found = await listingOf(this.state, this.#list);
    const written = new Set(this.#writes.flat().map(({ name }) => name));
    const ids = found.filter(({ name }) => written.has(name)).map(({ id }) => id);
    this.state.told?.interrupted(this.state.name(this.#list), ids);
    for (const { name } of reference.records) {
      // Vectors that a text model makes come later, and are not compared.
      const isOwn = reference.model === 'own';
      const is = asListed(
        found.find((record) => record.name === name),
        isOwn,
      );
      const [old, made] = [this.#before, reference].map((each) => each.find(name));
      if (isDeepStrictEqual(is, asKnown(made, isOwn))) continue;
      holdsTrue('acknowledged before a kill', !acknowledged.some((record) => record.name === name), () => [name, is]);
      same('record that a kill interrupted', is, asKnown(old, isOwn));
      if (old === undefined) reference.delete(name);
      else reference.restore(old);
    }
    reference.forgetTimes();
  }
}

/** A setting as it is now, as it was before the change, and as the change makes it. */
interface Outcome {
  readonly is: unknown;
  readonly old: unknown;
  readonly made: unknown;
}

export class ChangedAmidKill {
  readonly sent: readonly Promise<Answer | undefined>[];

  constructor(
    private readonly state: ReplayState,
    private readonly changes: readonly SettingsChange[],
  ) {
    this.sent = changes.map((change) => unlessCut(this.#send(change)));
  }

  /** Call after the service has started again. Checks each setting, and applies the changes that took place. */
  async settle(group: ReplayedGroup): Promise<void> {
    for (const [at, change] of this.changes.entries()) {
      const status = (await this.sent[at])?.status;
      const { is, old, made } = await this.#outcome(change);
      const isMade = isDeepStrictEqual(is, made);
      const what = `${change.kind} amid a kill`;
      holdsTrue(`status of ${what}`, status === undefined || status === 200 || status === 400, () => status);
      if (status === 400 || !isMade) same(what, is, old);
      holdsTrue(`acknowledged ${what}`, status !== 200 || isMade, () => is);
      if (isMade && status !== 400) await this.#change(change, group);
    }
    await group.check();
  }

  #send(change: SettingsChange): Promise<Answer> {
    const { client, prefix } = this.state;
    if (change.kind === 'members') return client.put(`/list-group/default/${prefix}`, { lists: this.#told(change) });
    const name = this.state.name(change.list);
    switch (change.kind) {
      case 'synonyms':
        return client.put(`/list/synonyms/default/${name}`, { rules: change.rules });
      case 'query-rules':
        return client.put(`/list/default/${name}`, { query_rules: change.rules.map(writtenRule) });
      case 'define':
        return client.put(`/list/default/${name}`, fieldsOf(change.definition));
    }
  }

  async #outcome(change: SettingsChange): Promise<Outcome> {
    const { client, prefix, group } = this.state;
    if (change.kind === 'members') {
      const { body } = await answered(client.get(`/list-group/default/${prefix}`), 200);
      const is = (body as { lists: object[] }).lists;
      return { is, old: this.#told({ lists: group.members }), made: this.#told(change) };
    }
    const reference = this.state.list(change.list);
    if (change.kind === 'synonyms') {
      const { body } = await answered(client.get(`/list/synonyms/default/${this.state.name(change.list)}`), 200);
      return { is: (body as { rules: object[] }).rules, old: reference.rules, made: change.rules };
    }
    const told = await listAtRest(this.state, change.list);
    if (change.kind === 'query-rules') {
      const [old, made] = [reference.queryRules, change.rules].map((rules) => rules.map(writtenRule));
      return { is: told.query_rules, old, made };
    }
    const isSame = isDeepStrictEqual(fieldsOf(reference.definition), fieldsOf(change.definition));
    return { is: told.current_version, old: reference.version, made: reference.version + (isSame ? 0 : 1) };
  }

  #change(change: SettingsChange, group: ReplayedGroup): Promise<void> | void {
    switch (change.kind) {
      case 'members':
        return group.changed(change.lists);
      case 'synonyms':
        this.state.list(change.list).rules = change.rules;
        return;
      case 'query-rules':
        this.state.list(change.list).queryRules = change.rules;
        return;
      case 'define':
        return redefined(this.state, change.list, change.definition);
    }
  }

  #told({ lists }: { readonly lists: readonly { readonly list: number; readonly version?: number }[] }): object[] {
    return lists.map(({ list, version }) => ({
      list: this.state.name(list),
      ...(version !== undefined && { version }),
    }));
  }
}

/** Resolves with undefined if no answer came. */
function unlessCut(sent: Promise<Answer>): Promise<Answer | undefined> {
  return sent.catch(() => undefined);
}
