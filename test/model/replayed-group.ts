/** Changes the group of a sequence and checks its members and versions. */
import { same } from './difference.js';
import type { Member } from './reference-group.js';
import { answered, type ReplayState } from './replay-state.js';

interface Group {
  readonly current_version: number;
  readonly lists: readonly object[];
  readonly versions: readonly { readonly version: number; readonly lists: readonly object[] }[];
}

export class ReplayedGroup {
  constructor(private readonly state: ReplayState) {}

  async begin(members: readonly Member[]): Promise<void> {
    const made = { name: this.state.prefix, lists: this.#told(members) };
    await answered(this.state.client.post('/list-group/default', made), 201);
    this.state.group.change(members, this.state.lists);
  }

  /** Changes the members. `back` pins a member to a version of its list, counted back from the current one. */
  async change(wanted: readonly { readonly list: number; readonly back?: number }[]): Promise<void> {
    const { lists, group, client, prefix } = this.state;
    const members = wanted.map(({ list, back }): Member => {
      const version = back === undefined ? undefined : Math.max(1, this.state.list(list).version - back);
      return version === undefined ? { list } : { list, version };
    });
    const isThere = members.every(({ list, version }) => {
      const reference = this.state.list(list);
      return version === undefined || version === reference.version || reference.frozen.has(version);
    });
    const { status, text } = await client.put(`/list-group/default/${prefix}`, { lists: this.#told(members) });
    same('status of new members', [status, isThere && status !== 200 ? text : ''], [isThere ? 200 : 404, '']);
    if (isThere) group.change(members, lists);
    await this.check();
  }

  /** Applies members that something else sent to the service. */
  changed(members: readonly Member[]): void {
    this.state.group.change(members, this.state.lists);
  }

  async check(): Promise<void> {
    const { group, client, prefix } = this.state;
    const { body } = await answered(client.get(`/list-group/default/${prefix}`), 200);
    const { current_version: current, lists, versions } = body as Group;
    same('members of the group', lists, this.#told(group.members));
    same('current version of the group', current, group.version);
    const expected = group.versions.map((pinned) => this.#told(pinned));
    same(
      'versions of the group',
      versions.map(({ lists: members }) => members),
      expected,
    );
  }

  #told(members: readonly Member[]): object[] {
    return members.map(({ list, version }) => ({
      list: this.state.name(list),
      ...(version !== undefined && { version }),
    }));
  }
}
