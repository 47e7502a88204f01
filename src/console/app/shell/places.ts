/** Pages of an account, for the navigation and the command palette. */
import {
  apiKeyList,
  contributorList,
  feedList,
  listGroupList,
  listList,
  mediaStoreList,
  modelList,
  planRead,
  serviceSettings,
  systemMetrics,
  webhookList,
  type OperationRoute,
} from '../service/client.js';
import { text } from '../messages/index.js';

export interface Place {
  readonly to:
    | '/$account'
    | '/$account/lists'
    | '/$account/groups'
    | '/$account/feeds'
    | '/$account/files'
    | '/$account/models'
    | '/$account/keys'
    | '/$account/webhooks'
    | '/$account/people'
    | '/$account/plan'
    | '/$account/health'
    | '/$account/settings';
  readonly label: string;
  /** Heading under which the page is listed. */
  readonly part: keyof typeof text.shell.parts;
  /** Operation that the person must be allowed to call; otherwise the page is hidden. */
  readonly needs: { readonly route: OperationRoute };
}

export const PLACES: readonly Place[] = [
  { to: '/$account', part: 'search', label: text.start.title, needs: listList },
  { to: '/$account/lists', part: 'search', label: text.lists.title, needs: listList },
  { to: '/$account/groups', part: 'search', label: text.groups.title, needs: listGroupList },
  { to: '/$account/feeds', part: 'sources', label: text.feeds.title, needs: feedList },
  { to: '/$account/files', part: 'sources', label: text.media.title, needs: mediaStoreList },
  { to: '/$account/models', part: 'sources', label: text.models.title, needs: modelList },
  { to: '/$account/keys', part: 'programs', label: text.keys.title, needs: apiKeyList },
  { to: '/$account/webhooks', part: 'programs', label: text.webhooks.title, needs: webhookList },
  { to: '/$account/people', part: 'account', label: text.people.title, needs: contributorList },
  { to: '/$account/plan', part: 'account', label: text.plan.title, needs: planRead },
  { to: '/$account/health', part: 'service', label: text.health.title, needs: systemMetrics },
  { to: '/$account/settings', part: 'service', label: text.serviceSettings.title, needs: serviceSettings },
];

export const LIST_PLACES = [
  { to: '/$account/list/$list/search', label: text.list.search },
  { to: '/$account/list/$list/records', label: text.list.records },
  { to: '/$account/list/$list/fields', label: text.list.fields },
  { to: '/$account/list/$list/synonyms', label: text.list.synonyms },
  { to: '/$account/list/$list/rules', label: text.list.rules },
  { to: '/$account/list/$list/suggestions', label: text.list.suggestions },
  { to: '/$account/list/$list/analytics', label: text.list.analytics },
  { to: '/$account/list/$list/settings', label: text.list.settings },
] as const;
