/** The settings of a feed for each provider, with defaults filled in and without secrets. */
import type { WebsiteSettings } from '../crawl/crawl-types.js';
import type { ApiSettings } from './api-source.js';
import type { EmailSettings } from './email-source.js';
import type { ListedFilesSettings } from './listed-files-source.js';
import type { SyndicationSettings } from './syndication-source.js';

export const PROVIDERS = ['website', 'rss', 'api', 'email', 'media-store'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export interface ApiFeedSettings extends ApiSettings {
  /** The value of this header is the secret of the feed. */
  readonly auth_header?: { readonly name: string };
}

export type ProviderSettings =
  | { readonly name: 'website'; readonly settings: WebsiteSettings }
  | { readonly name: 'rss'; readonly settings: SyndicationSettings }
  | { readonly name: 'api'; readonly settings: ApiFeedSettings }
  | { readonly name: 'email'; readonly settings: EmailSettings }
  | { readonly name: 'media-store'; readonly settings: ListedFilesSettings };
