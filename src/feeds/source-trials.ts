/** Tries and previews sources: before a feed is kept, and when its secret or its pages change. Main thread only. */
import type { MediaStores } from '../media/index.js';
import type { Host } from '../platform/hosts/index.js';
import { ServiceError, type Secret } from '../platform/index.js';
import type { Discovery } from './crawl/discover.js';
import { SOURCE_UNUSABLE } from './feed-problems.js';
import type { ProviderSettings } from './providers/provider-settings.js';
import type { FeedProtocol, SourceFault } from './worker/feed-protocol.js';

/** Maximum number of sources that are being tried or previewed at the same time. Reading one takes up to a minute. */
const TRIED_MAX = 16;
const RETRY_AFTER_SECONDS = 10;

export interface TriedSource {
  readonly account: string;
  readonly provider: ProviderSettings;
  readonly secret: Secret | undefined;
}

export class SourceTrials {
  /** Number of sources that are being tried. */
  private tried = 0;

  constructor(
    private readonly host: Host<FeedProtocol>,
    private readonly media: MediaStores,
  ) {}

  /**
   * Resolves if the source can be read. Rejects with `source-unusable` if it cannot, with `media-store-not-found`, with
   * `overloaded` if too many sources are being tried, or with the signal's reason.
   */
  async check({ account, provider, secret }: TriedSource, signal: AbortSignal | undefined): Promise<void> {
    if (provider.name === 'media-store') {
      const { store, prefix } = provider.settings;
      await this.media.open(account, store).list({ prefix, after: '', size: 1 });
      return;
    }
    const ask = { provider, secret: secret?.reveal() ?? null };
    const answer = await this.trying(() => this.host.call('check', ask, callOf(signal)));
    if (!answer.isOk) throw unusable(answer);
  }

  /** Resolves with what a source would give. Rejects like `check`. */
  async discover(provider: ProviderSettings, signal: AbortSignal | undefined): Promise<Discovery> {
    const ask = { provider, secret: null };
    const answer = await this.trying(() => this.host.call('discover', ask, callOf(signal)));
    if (!answer.isOk) throw unusable(answer);
    return answer.discovery;
  }

  /** Runs `ask`, which reads a source. The number of these is limited because feeds are synced at the same time. */
  private async trying<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.tried >= TRIED_MAX) {
      const detail = `${TRIED_MAX} sources are being tried already; try again in ${RETRY_AFTER_SECONDS} seconds.`;
      throw new ServiceError('overloaded', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.tried += 1;
    try {
      return await ask();
    } finally {
      this.tried -= 1;
    }
  }
}

/** Makes the call end when the client that asked for it has gone. */
function callOf(signal: AbortSignal | undefined) {
  return signal === undefined ? {} : { signal };
}

function unusable({ message }: SourceFault): ServiceError {
  return new ServiceError(SOURCE_UNUSABLE, message);
}
