/** A feed and a list that follows it: what the list has after each sync. For tests. */
import { eventually } from '../eventually.js';
import { ok, type FeedService, type ShownFeed } from './feed-service.js';

export interface FollowedRecord {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** After a sync, and once the list was made like the file. */
export interface Followed {
  readonly feed: ShownFeed;
  /** In the order of their names, which begin behind the site's address. */
  readonly records: readonly FollowedRecord[];
  readonly names: readonly string[];
}

export interface FollowOptions {
  readonly provider: string;
  readonly settings: object;
  readonly secret?: string;
  /** Begins names, and is left out of them here. */
  readonly base?: string;
}

export class FollowedFeed {
  private constructor(
    private readonly feeds: FeedService,
    readonly name: string,
    private readonly base: string,
  ) {}

  /** Connects the feed and a list of its name; both have what the source has. */
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

  /** What the list has, once it was made like the file again. */
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
