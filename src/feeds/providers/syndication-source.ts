/**
 * A feed of RSS, Atom or JSON Feed as a source. An item is named by its address if no other item has the same, because
 * addresses stay the same even when all guids change. Otherwise it is named by its guid, or else by a hash of its
 * content. An item whose address changes, but not its guid, is renamed.
 *
 * Such a feed shows its newest items only. A record whose item is no longer in it stays, unless `drop_left_items` is
 * set.
 */
import { createHash } from 'node:crypto';
import { validatorsOf } from '../../platform/index.js';
import type { OutboundClient } from '../../platform/outbound/outbound-client.js';
import { PageFetcher } from '../crawl/page-fetcher.js';
import type { FeedSource } from '../file/sync-run.js';
import { readPage } from '../pages/page-reader.js';
import {
  givenFields,
  SourceFailedError,
  type FieldValue,
  type SourceListener,
  type SourceOutcome,
  type SourceRecord,
} from '../source/source-run.js';
import { readFeed } from '../syndication/feed-reader.js';
import {
  formerNames,
  keptTraits,
  traitsOf,
  type ItemTraits,
  type TraitsOfItems,
} from '../syndication/renamed-items.js';
import { NotAFeedError, type SyndicatedFeed, type SyndicatedItem } from '../syndication/syndicated-feed.js';
import { decodeText } from '../text/decoded-text.js';
import { Slices } from '../text/slices.js';
import { pageUrl } from '../urls/page-url.js';
import { SYNDICATION_FIELDS } from './known-fields.js';

export interface SyndicationSettings {
  readonly url: string;
  /** If true, the articles are fetched and their text becomes the text of the records. */
  readonly full_text: boolean;
  readonly drop_left_items: boolean;
}

/** What is kept between two runs. */
export interface SyndicationMemory {
  readonly etag?: string;
  readonly lastModified?: string;
  /** Names of the records in the last answer. */
  readonly names: readonly string[];
  /** By what its items are recognised if their addresses change. Missing if an earlier release kept this. */
  readonly items?: TraitsOfItems;
  /** For each fetched article, by name, a digest of its item at that time; '' if the article is to be fetched again. */
  readonly articles: Readonly<Record<string, string>>;
}

export interface SyndicationMemoryStore {
  read(): SyndicationMemory | undefined;
  write(memory: SyndicationMemory): Promise<void>;
}

export interface SyndicationSourceOptions {
  readonly settings: SyndicationSettings;
  readonly client: OutboundClient;
  readonly memory: SyndicationMemoryStore;
  readonly nowMs: () => number;
  readonly bytesMax: number;
}

const ARTICLES_MAX = 500;
const NAME_CHARACTERS_MAX = 512;
const HASH_CHARACTERS = 22;

export class SyndicationSource implements FeedSource {
  readonly provider = 'rss';
  readonly asksForEach = false;
  private next: SyndicationMemory | undefined;

  constructor(private readonly options: SyndicationSourceOptions) {}

  async read(
    listener: SourceListener,
    { isFresh, signal }: { readonly isFresh: boolean; readonly signal: AbortSignal },
  ): Promise<SourceOutcome> {
    const { settings, memory } = this.options;
    const known = memory.read();
    const { fetcher, answer } = await this.fetched(isFresh ? undefined : known, signal);
    const counts = () => ({ requests: fetcher.requests, bytes: fetcher.bytes });
    if (answer === 'unchanged') {
      for (const name of known?.names ?? []) listener.unchanged(name);
      this.next = known;
      return { isComplete: false, ...counts() };
    }
    const { feed, validators } = answer;
    const slices = new Slices(signal);
    const identify = await identityOf(feed.items, slices);
    const articles: Articles = { isFresh, known: known?.articles ?? {}, kept: new Map(), asked: 0, areLeft: false };
    const names = new Set<string>();
    const traits = new Map<string, ItemTraits | undefined>();
    for (const item of feed.items) {
      signal.throwIfAborted();
      if (slices.areOver) await slices.next();
      const name = identify(item);
      if (names.has(name)) {
        listener.skipped(name, 'The feed has more than one item of this identity; the first is taken.');
        continue;
      }
      names.add(name);
      traits.set(name, traitsOf(item));
      await this.tell({ name, item, listener, fetcher, articles, slices });
    }
    const items = Object.fromEntries([...traits].flatMap(([name, each]) => (each === undefined ? [] : [[name, each]])));
    const knownItems = known?.items ?? {};
    const renamed = formerNames(knownItems, items).filter((former) => !names.has(former));
    for (const former of renamed) listener.gone(former);
    // If the feed breaks off or some articles are still to be fetched, no validators are kept, so that the server does
    // not answer next time that nothing has changed.
    const isDone = feed.isWhole && !articles.areLeft;
    this.next = {
      ...(isDone ? validators : {}),
      names: [...names],
      items: feed.isWhole ? items : keptTraits(knownItems, items, renamed),
      articles: Object.fromEntries(articles.kept),
    };
    if (!feed.isWhole) listener.skipped(settings.url, 'The feed breaks off; items are missing at its end.');
    return { isComplete: settings.drop_left_items && feed.isWhole, ...counts() };
  }

  /** An item that is no longer in the feed does not mean that its article is gone. */
  confirmGone(names: readonly string[]): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(this.options.settings.drop_left_items ? names : []));
  }

  fields() {
    return SYNDICATION_FIELDS;
  }

  async keep(): Promise<void> {
    if (this.next !== undefined) await this.options.memory.write(this.next);
  }

  /** Passes an item on. With `full_text`, its article is fetched if the item has changed. */
  private async tell({ name, item, listener, fetcher, articles, slices }: ToldItem): Promise<void> {
    const { settings } = this.options;
    if (!settings.full_text || item.url === undefined) {
      listener.record(recordOf(name, item));
      return;
    }
    const said = hashOf(JSON.stringify(item));
    const known = articles.known[name];
    if (known === said && !articles.isFresh) {
      articles.kept.set(name, said);
      listener.unchanged(name);
      return;
    }
    const found = await this.article(item.url, { fetcher, articles, slices });
    if (!('why' in found)) {
      articles.kept.set(name, said);
      listener.record(recordOf(name, { ...item, text: found.text, image: item.image ?? found.image }));
      return;
    }
    listener.skipped(item.url, `The article is not there: ${found.why}`);
    if (known === undefined) {
      listener.record(recordOf(name, item));
      return;
    }
    // The text that was fetched before is better than a summary.
    articles.kept.set(name, '');
    listener.unchanged(name, recordOf(name, item));
  }

  private async article(
    url: string,
    { fetcher, articles, slices }: Pick<ToldItem, 'fetcher' | 'articles' | 'slices'>,
  ): Promise<{ readonly text: string; readonly image: string | undefined } | { readonly why: string }> {
    if (articles.asked >= ARTICLES_MAX) {
      articles.areLeft = true;
      return { why: `A run fetches at most ${ARTICLES_MAX} articles; the next one goes on.` };
    }
    articles.asked += 1;
    const outcome = await fetcher.page(url, {});
    articles.areLeft ||= outcome.kind === 'failed' || outcome.kind === 'later';
    if (outcome.kind !== 'page') return { why: 'why' in outcome ? outcome.why : 'It is no page with text.' };
    const { text, image, looksMissing, needsJavaScript } = await readPage(outcome.text, {
      url: outcome.url,
      nowMs: this.options.nowMs(),
      robotsTag: outcome.robotsTag,
      slices,
    });
    return text === '' || looksMissing || needsJavaScript ? { why: 'It is no page with text.' } : { text, image };
  }

  private async fetched(known: SyndicationMemory | undefined, signal: AbortSignal) {
    const { client, settings, nowMs, bytesMax } = this.options;
    const fetcher = new PageFetcher({ client, signal, nowMs, pageBytesMax: bytesMax, mayFollow: () => true });
    const asked = await fetcher.file(settings.url, known ?? {});
    if ('why' in asked) throw new SourceFailedError(`The feed cannot be read: ${asked.why}`);
    const { response } = asked;
    if (response.isNotModified) {
      response.discard();
      return { fetcher, answer: 'unchanged' as const };
    }
    if (response.status !== 200) {
      response.discard();
      throw new SourceFailedError(`The feed is answered with ${response.status}.`, response.retryAfterMs(nowMs()));
    }
    try {
      const bytes = await response.bytes();
      fetcher.bytes += bytes.length;
      const { text } = decodeText(bytes, response.headers['content-type']);
      const slices = new Slices(signal);
      const feed: SyndicatedFeed = await readFeed(text, { url: response.url, nowMs: nowMs(), slices });
      return { fetcher, answer: { feed, validators: validatorsOf(response.headers, nowMs()) } };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NotAFeedError) throw new SourceFailedError(error.message, undefined, { cause: error });
      throw new SourceFailedError(`The feed cannot be read: ${fetcher.sentence(error)}`, undefined, { cause: error });
    }
  }
}

interface ToldItem {
  readonly name: string;
  readonly item: SyndicatedItem;
  readonly listener: SourceListener;
  readonly fetcher: PageFetcher;
  readonly articles: Articles;
  readonly slices: Slices;
}

/** The articles of one run. */
interface Articles {
  /** If true, all articles are fetched, whatever is known of them. */
  readonly isFresh: boolean;
  readonly known: SyndicationMemory['articles'];
  readonly kept: Map<string, string>;
  asked: number;
  /**
   * True if some articles are to be fetched soon, either because a run fetches no more or because they could not be
   * fetched this time.
   */
  areLeft: boolean;
}

/** Resolves with a function that names an item. All items have to be known for this. */
async function identityOf(items: readonly SyndicatedItem[], slices: Slices): Promise<(item: SyndicatedItem) => string> {
  const urls = new Map<string | undefined, number>();
  const guids = new Map<string | undefined, number>();
  for (const { url, guid } of items) {
    count(urls, urlOf(url));
    count(guids, guid);
    if (slices.areOver) await slices.next();
  }
  return ({ url, guid, title, published, summary }) => {
    const address = urlOf(url);
    if (address !== undefined && urls.get(address) === 1) return address;
    if (guid !== undefined && guids.get(guid) === 1) return guid.length > NAME_CHARACTERS_MAX ? hashOf(guid) : guid;
    return `${address ?? 'item'}#${hashOf(JSON.stringify([title, published, guid ?? summary]))}`;
  };
}

function count(counts: Map<string | undefined, number>, value: string | undefined): void {
  counts.set(value, (counts.get(value) ?? 0) + 1);
}

/**
 * Returns the address without parameters that only tell where a reader came from. Undefined if it is too long for a
 * name.
 */
function urlOf(url: string | undefined): string | undefined {
  const address = url === undefined ? undefined : pageUrl(url);
  return address === undefined || address.length > NAME_CHARACTERS_MAX - HASH_CHARACTERS - 1 ? undefined : address;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, HASH_CHARACTERS);
}

function recordOf(
  name: string,
  { url, title, summary, text, authors, categories, published, updated, image, enclosures }: SyndicatedItem,
): SourceRecord {
  const fields: Readonly<Record<string, FieldValue | undefined>> = {
    url,
    title,
    summary,
    text,
    authors,
    categories,
    published,
    updated,
    image,
    enclosure: enclosures[0]?.url,
  };
  return { name, fields: givenFields(fields) };
}
