/** A service with feeds, and websites on loopback for them to read. */
import { expect } from 'vitest';
import { eventually } from '../eventually.js';
import type { Answer, ServiceClient } from '../client.js';
import { startTestService, type ServiceSettings, type TestService } from '../service.js';
import { html, MadeSite } from './made-site.js';

export interface ShownFeed {
  readonly name: string;
  readonly status: string;
  readonly media_store: string;
  readonly last_checked: string | null;
  readonly last_synced: string | null;
  readonly next_sync: string | null;
  readonly error: { readonly message: string; readonly at: string } | null;
  readonly record_count: number;
  readonly searchable_in: readonly string[];
  readonly last_run:
    | (Readonly<Record<'added' | 'changed' | 'removed' | 'unchanged' | 'requests', number>> & {
        readonly skipped: readonly { readonly why: string }[];
      })
    | null;
  readonly has_secret: boolean;
}

export interface ShownSource {
  readonly media_store: string;
  readonly path: string;
  readonly status: string;
  readonly error: { readonly message: string } | null;
  readonly last_imported: string | null;
  readonly last_run: Readonly<Record<'added' | 'changed' | 'removed' | 'unchanged' | 'failed', number>> | null;
}

const SETTINGS = {
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_FEEDS_PAGES_PER_SECOND: '0',
  GANNET_FEEDS_RETRY_AFTER_SECONDS_MAX: '1',
  GANNET_FEEDS_SOURCE_CHECK_SECONDS: '1',
};

export class FeedService {
  private constructor(readonly service: TestService) {}

  static async start({ env = {}, ...settings }: ServiceSettings = {}): Promise<FeedService> {
    return new FeedService(await startTestService({ ...settings, env: { ...SETTINGS, ...env } }));
  }

  get client(): ServiceClient {
    return this.service.client;
  }

  get control(): ServiceClient {
    return this.service.control();
  }

  /** Connects a feed of this website. */
  async connect(name: string, site: MadeSite, more: Readonly<Record<string, unknown>> = {}): Promise<ShownFeed> {
    const settings = { start_urls: [site.url('/')], ...((more['settings'] as object | undefined) ?? {}) };
    return ok(
      await this.control.post('/feed/default/connect', { name, provider: 'website', ...more, settings }),
    ) as ShownFeed;
  }

  async feed(name: string): Promise<ShownFeed> {
    return ok(await this.client.get(`/feed/default/${name}`)) as ShownFeed;
  }

  /**
   * Returns the feed when it is not running and was checked since it said this of its last check, which a clock that
   * was set back may tell as an earlier one.
   */
  async settled(name: string, before: string | null = null): Promise<ShownFeed> {
    return eventually(
      () => this.feed(name),
      ({ status, last_checked: checked }) => status !== 'Syncing' && checked !== null && checked !== before,
    );
  }

  /** Syncs now, and returns the feed when that has ended. */
  async sync(name: string): Promise<ShownFeed> {
    const { last_checked: before } = await this.settled(name);
    ok(await this.client.send('POST', `/feed/default/${name}/sync`));
    return this.settled(name, before);
  }

  async list(name: string, more: object = {}): Promise<void> {
    ok(await this.client.post('/list/default', { name, ...more }));
  }

  async source(list: string): Promise<ShownSource> {
    return ok(await this.client.get(`/list/default/${list}/source`)) as ShownSource;
  }

  /** Resolves when the list has exactly the records with these names. */
  async holds(list: string, names: readonly string[]): Promise<void> {
    const wanted = [...names].sort();
    await eventually(
      () => this.names(list),
      (found) => JSON.stringify(found) === JSON.stringify(wanted),
    );
  }

  async names(list: string): Promise<string[]> {
    return (await this.records(list)).map(({ name }) => name).sort();
  }

  async records(list: string) {
    const { results } = ok(await this.client.get(`/search-result/default/${list}`, { size: 1000 })) as {
      readonly results: readonly {
        readonly id: string;
        readonly name: string;
        readonly source?: string;
        readonly modified_utc: string;
        readonly fields: Readonly<Record<string, unknown>>;
      }[];
    };
    return results;
  }

  /** Returns the synced file from its store. */
  file(name: string, store = 'default'): Promise<Answer> {
    return this.client.get(`/media/default/${store}/feeds/${name}.sync`);
  }

  close(): Promise<void> {
    return this.service.close();
  }
}

export function ok({ status, text, body }: Answer): unknown {
  expect(status, text).toBeLessThan(300);
  return body;
}

/** Starts a site whose home page links to pages with these names. */
export async function siteOf(...names: readonly string[]): Promise<MadeSite> {
  const site = await MadeSite.start();
  fill(site, names);
  return site;
}

/** Replaces the pages of a site. */
export function fill(site: MadeSite, names: readonly string[], text = 'Something about'): void {
  site.pages.clear();
  site.pages.set('/', html('Home', 'Where it begins', ...names.map((name) => `/${name}`)));
  for (const name of names) site.pages.set(`/${name}`, html(`Page ${name}`, `${text} ${name}`));
}

/** Withholds the answers of a path until `release` is called. */
export function held(site: MadeSite, path: string): { readonly asked: Promise<void>; readonly release: () => void } {
  const page = site.pages.get(path);
  if (typeof page !== 'string') throw new Error(`${path} is no page`);
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const asked = new Promise<void>((resolve) => {
    site.pages.set(path, (request, response) => {
      resolve();
      void released.then(() => {
        site.pages.set(path, page);
        site.answer(request, page, response);
      });
    });
  });
  return { asked, release };
}
