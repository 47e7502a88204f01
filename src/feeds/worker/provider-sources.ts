/** Creates the source of a feed from its settings. */
import { join } from 'node:path';
import { Secret, type Clock, type OutboundRules } from '../../platform/index.js';
import type { OutboundClient } from '../../platform/outbound/outbound-client.js';
import type { CrawlLimits } from '../crawl/crawl-types.js';
import type { HostPace } from '../crawl/host-pace.js';
import type { AttachedFile } from '../email/message-reader.js';
import type { FeedSource } from '../file/sync-run.js';
import { ApiSource, type ApiMemory } from '../providers/api-source.js';
import { EmailSource, type EmailMemory } from '../providers/email-source.js';
import { ListedFilesSource } from '../providers/listed-files-source.js';
import type { ApiFeedSettings } from '../providers/provider-settings.js';
import { SyndicationSource, type SyndicationMemory } from '../providers/syndication-source.js';
import { WebsiteSource } from '../providers/website-source.js';
import { LISTING_FILE, MEMORY_FILE, type FeedLimits, type SourceAsk } from './feed-protocol.js';
import { MemoryFile } from './memory-file.js';

/**
 * Maximum number of requests of one run at the same time. A host gets one at a time unless politeness is switched off.
 */
const REQUESTS_MAX = 8;

export interface SourceParts {
  readonly client: OutboundClient;
  readonly pace: HostPace;
  /** Rules for connections that do not use HTTP. */
  readonly rules: OutboundRules;
  readonly clock: Clock;
  readonly limits: FeedLimits;
  /** If undefined, nothing is remembered and there is no listing of files. */
  readonly folder: string | undefined;
  /** Maximum time between two runs if the clock is right. Not needed by a source that keeps nothing. */
  readonly apartMsMax?: number;
  /** If undefined, files that belong to records are not kept. */
  readonly keepFile?: (file: AttachedFile) => string;
  readonly onProgress?: (progress: { readonly done: number; readonly queued: number }) => void;
}

/** A source for one run, and a function that releases what it has open. */
export interface OpenSource {
  readonly source: FeedSource;
  readonly close: () => void;
}

export function crawlLimits({ pagesPerSecond, runMsMax, retryAfterMsMax, pageBytesMax }: FeedLimits): CrawlLimits {
  return { pagesPerSecond, requestsMax: REQUESTS_MAX, runMsMax, retryAfterMsMax, pageBytesMax };
}

/** Throws a SyntaxError for settings that cannot be read. */
export function openSource({ provider, secret }: SourceAsk, parts: SourceParts): OpenSource {
  const { client, pace, clock, limits, folder, apartMsMax = 0, onProgress } = parts;
  const nowMs = () => clock.nowMs();
  const memoryOf = <Memory>() =>
    folder === undefined ? NO_MEMORY : new MemoryFile<Memory>(join(folder, MEMORY_FILE), provider.name);
  const nothingOpen = () => undefined;
  switch (provider.name) {
    case 'website': {
      if (folder === undefined) throw new Error('a crawl needs a folder for what it remembers');
      const source = new WebsiteSource({
        settings: provider.settings,
        limits: crawlLimits(limits),
        client,
        pace,
        memoryPath: join(folder, MEMORY_FILE),
        nowMs,
        ...(onProgress === undefined ? {} : { onProgress }),
      });
      return { source, close: () => source.close() };
    }
    case 'rss': {
      const memory = memoryOf<SyndicationMemory>();
      const { settings } = provider;
      const source = new SyndicationSource({ settings, client, memory, nowMs, bytesMax: limits.answerBytesMax });
      return { source, close: nothingOpen };
    }
    case 'api': {
      const { settings } = provider;
      const source = new ApiSource({
        settings,
        ...headerOf(settings, secret),
        client,
        memory: memoryOf<ApiMemory>(),
        nowMs,
        apartMsMax,
        bytesMax: limits.answerBytesMax,
        recordsMax: limits.recordsMax,
      });
      return { source, close: nothingOpen };
    }
    case 'email': {
      const source = new EmailSource({
        settings: provider.settings,
        secret: new Secret(secret ?? ''),
        rules: parts.rules,
        memory: memoryOf<EmailMemory>(),
        nowMs,
        messageBytesMax: limits.pageBytesMax,
        recordsMax: limits.recordsMax,
        ...(parts.keepFile === undefined ? {} : { keepFile: parts.keepFile }),
        ...(onProgress === undefined ? {} : { onProgress }),
      });
      return { source, close: nothingOpen };
    }
    case 'media-store':
      return {
        source: new ListedFilesSource(provider.settings, join(folder ?? '', LISTING_FILE)),
        close: nothingOpen,
      };
  }
}

const NO_MEMORY = { read: () => undefined, write: () => Promise.resolve() };

function headerOf({ auth_header: header }: ApiFeedSettings, secret: string | null) {
  return header === undefined || secret === null
    ? {}
    : { authHeader: { name: header.name, value: new Secret(secret) } };
}
