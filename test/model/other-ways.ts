/** Sends the same search in other forms: as a query string, with the version as a number, and with restricted keys. */
import { isDeepStrictEqual } from 'node:util';
import type { Answer, ServiceClient } from '../support/client.js';
import type { NewKeyOptions, TestService } from '../support/service.js';
import { Difference, holdsTrue, same, shown } from './difference.js';

export interface SentSearch {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}
interface Ways {
  readonly style: number;
  /** Name of the list; undefined for a search of the group. */
  readonly list: string | undefined;
  readonly members: readonly string[];
  /**
   * True if the current versions of the lists are those that the group's version pins, so that searching by that number
   * is equivalent.
   */
  readonly isPinned: boolean;
  /** Called with every search that was answered. */
  counted(this: void, body: SentSearch['body'], answer: Answer): void;
}
type Asked = () => Promise<Answer>;

/** A merge may change scores between the two requests of a comparison: then both are sent again. */
const TRIES_MAX = 5;
/** Maximum length of a query string that fits into a URL. */
const QUERY_CHARACTERS_MAX = 4000;

export class OtherWays {
  readonly #keys = new Map<string, string>();

  constructor(
    private readonly service: TestService,
    private readonly group: string,
  ) {}

  /**
   * Called when a list is created again: checks that the key of the old one is gone with it, and gives no access to the
   * new one.
   */
  async listIsGone(list: string): Promise<void> {
    const old = this.#keys.get(list);
    this.#keys.delete(list);
    if (old === undefined) return;
    const { status } = await this.service.clientWith(old).get(`/search/default/${list}/1`);
    same('status of a key whose list was made anew', status, 401);
  }

  /** `members` are the lists of the group. */
  async check(sent: SentSearch, { style, list, members, isPinned, counted }: Ways): Promise<void> {
    const asked = (client: ServiceClient) => async () => {
      const answer = await client.post(sent.path, sent.body);
      counted(sent.body, answer);
      return answer;
    };
    const full = asked(this.service.client);
    switch (style % 8) {
      case 0:
        return this.#asQueryString(full, sent, counted);
      case 1: {
        const own = await this.#keyOf(list ?? this.group, list === undefined ? 'group' : 'list');
        await this.#agree('answer to a key of its own', full, asked(own));
        const { status } = await own.post(`/search-result/default/${list ?? members[0]}`, { name: 'by a reader' });
        return same('status of a write by a reader', status, 403);
      }
      case 2: {
        const ofGroup = await this.#keyOf(this.group, 'group');
        if (list === undefined || members.includes(list))
          return this.#agree('answer to a key of the group', full, asked(ofGroup));
        return same('status of a key of a group without the list', (await asked(ofGroup)()).status, 403);
      }
      case 3: {
        const blind = await this.#key('blind', { access: 'custom', permissions: ['list:read', 'list-group:read'] });
        const { status, text } = await asked(blind)();
        same('status without search-result:read', status, 403);
        return holdsTrue('the permission that is missing', text.includes('search-result:read'), () => text);
      }
      case 4: {
        if (list === undefined) return isPinned ? this.#byNumber(full, sent, counted) : undefined;
        const elsewhere = members.find((each) => each !== list) ?? this.group;
        const other = await this.#keyOf(elsewhere, elsewhere === this.group ? 'group' : 'list');
        const reached = elsewhere === this.group && members.includes(list);
        return reached ? undefined : same('status of a key of another list', (await asked(other)()).status, 403);
      }
    }
  }

  #asQueryString(full: Asked, sent: SentSearch, counted: Ways['counted']): Promise<void> {
    const { path, body } = sent;
    const entries = Object.entries(body).map(([name, value]): [string, string] => [name, written(name, value)]);
    // Joining names by commas is unambiguous: no field of a sequence has a comma in its name.
    const query = Object.fromEntries(entries);
    if (new URLSearchParams(query).toString().length > QUERY_CHARACTERS_MAX) return Promise.resolve();
    return this.#agree('answer to a query string', full, async () => {
      const answer = await this.service.client.get(path, query);
      counted(body, answer);
      return answer;
    });
  }

  async #byNumber(full: Asked, sent: SentSearch, counted: Ways['counted']): Promise<void> {
    const { path, body } = sent;
    const { status, body: first } = await full();
    if (status !== 200) return;
    const numeric = path.replace(/latest$/, String((first as { version: number }).version));
    await this.#agree('answer of the current version of a group', full, async () => {
      const answer = await this.service.client.post(numeric, body);
      counted(body, answer);
      return answer;
    });
  }

  async #agree(what: string, full: Asked, other: Asked): Promise<void> {
    let seen: readonly unknown[] = [];
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      seen = [comparable(await full()), comparable(await other())];
      if (isDeepStrictEqual(seen[0], seen[1])) return;
    }
    throw new Difference(what, `is ${shown(seen[1])} and should be ${shown(seen[0])}`);
  }

  ofGroup(): Promise<ServiceClient> {
    return this.#keyOf(this.group, 'group');
  }

  #keyOf(name: string, scope: 'list' | 'group'): Promise<ServiceClient> {
    return this.#key(name, { access: 'search-and-read', scope, scope_target: name });
  }

  /** Creates each key once, but its client each time: the service has another address after a restart. */
  async #key(name: string, options: NewKeyOptions): Promise<ServiceClient> {
    const key = this.#keys.get(name) ?? (await this.service.createKey(options)).key;
    this.#keys.set(name, key);
    return this.service.clientWith(key);
  }
}

function comparable({ status, body }: Answer): unknown {
  if (status !== 200) return [status, (body as { code?: string }).code];
  const { query_id: _id, took_ms: _took, ...rest } = body as Record<string, unknown>;
  return rest;
}

function written(name: string, value: unknown): string {
  if (name === 'radius') {
    const { latitude, longitude, distance } = value as Record<string, number>;
    return `${latitude},${longitude},${distance}`;
  }
  if (name === 'box') {
    const { south, west, north, east } = value as Record<string, number>;
    return `${south},${west},${north},${east}`;
  }
  return Array.isArray(value) ? value.join(',') : String(value);
}
