/**
 * Every operation of the service except those of features. The basis of HTTP, OpenAPI, validation, and tests that cover
 * all operations.
 */
import { accountOperations } from './api/account.js';
import { apiKeyCreateReadOnly } from './api/api-key-read-only.js';
import { apiKeyOperations } from './api/api-key.js';
import { facetOperations } from './api/facet.js';
import { listGroupOperations } from './api/list-group.js';
import { listCheckOperations } from './api/list-check.js';
import { listEmbedRetryOperations } from './api/list-embed-retry.js';
import { listReindexOperations } from './api/list-reindex.js';
import { listOperations } from './api/list.js';
import type { Operation } from './dispatch/operation.js';
import { progressOperations } from './api/progress.js';
import { relatedOperations } from './api/related.js';
import { resourceOperations } from './api/resource.js';
import { searchResultBulk } from './api/search-result-bulk.js';
import { searchResultOperations } from './api/search-result.js';
import { searchOperations } from './api/search.js';
import { searchableFieldOperations } from './api/searchable-field.js';
import { secretOperations } from './api/secret.js';
import { serviceSettingsOperations } from './api/service-settings.js';
import { serviceStateOperations } from './api/service-state.js';
import { suggestOperations } from './api/suggest.js';
import { synonymOperations } from './api/synonyms.js';
import { systemOperations } from './api/system.js';

export const operations: readonly Operation[] = [
  ...systemOperations,
  ...accountOperations,
  apiKeyCreateReadOnly,
  ...apiKeyOperations,
  ...listOperations,
  ...listCheckOperations,
  ...listEmbedRetryOperations,
  ...listReindexOperations,
  ...facetOperations,
  ...searchableFieldOperations,
  ...resourceOperations,
  ...searchResultOperations,
  searchResultBulk,
  ...listGroupOperations,
  ...searchOperations,
  ...suggestOperations,
  ...relatedOperations,
  ...synonymOperations,
  ...secretOperations,
  ...progressOperations,
  ...serviceSettingsOperations,
  ...serviceStateOperations,
];
