/** A feed and a list that follows it, and what the list contains after each sync. */
import { eventually } from '../eventually.js';
import { ok, type FeedService, type ShownFeed } from './feed-service.js';

export interface FollowedRecord {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** State after a sync, when the list was updated from the file. */
export interface Followed {
  readonly feed: ShownFeed;
  /** Sorted by name; names begin with the site's address, which is removed here. */
  readonly records: readonly FollowedRecord[];
  readonly names: readonly string[];
}

export interface FollowOptions {
  readonly provider: string;
  readonly settings: object;
  readonly secret?: string;
  /** Prefix of names, removed here. */
  readonly base?: string;
}

export class FollowedFeed {
  private constructor(
    private readonly feeds: FeedService,
    readonly name: string,
    private readonly base: string,
  ) {}

  /** Connects the feed and a list of the same name, and waits until both have the source's records. */
  static async connect(feeds: FeedService, name: string, options: FollowOptions): Promise<FollowedFeed> {
    const { provider, settings, secret, base = '' } = options;
    const body = { name, provider, settings, ...(secret === undefined ? {} : { secret }) };
    ok(await feeds.control.post('/feed/default/connect', body));
    await feeds.list(name);
    ok(await feeds.client.post(`/list/default/${name}/feed`, { feed: name }));
    await feeds.settled(name);
    return new FollowedFeed(feeds, name, base);
  }

  async sync(): Promise<Followed> {
    const feed = await this.feeds.sync(this.name);
    return { feed, ...(await this.now()) };
  }

  /** Updates the list from the file, and returns its records. */
  async now(): Promise<Omit<Followed, 'feed'>> {
    const { last_imported: before } = await this.feeds.source(this.name);
    ok(await this.feeds.client.send('POST', `/list/default/${this.name}/source/run`));
    await eventually(
      () => this.feeds.source(this.name),
      ({ status, last_imported: at }) => status === 'Imported' && at !== before,
    );
    const records = (await this.feeds.records(this.name))
      .map(({ name, fields }) => ({ name: name.replace(this.base, ''), fields }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    return { records, names: records.map(({ name }) => name) };
  }
}
