/** Every operation of the service. HTTP, OpenAPI, validation and the tests that walk over everything start here. */
import { accountOperations } from './account.js';
import { analyticsOperations } from './analytics.js';
import { apiKeyCreateReadOnly } from './api-key-read-only.js';
import { apiKeyOperations } from './api-key.js';
import { facetOperations } from './facet.js';
import { listGroupOperations } from './list-group.js';
import { listCheckOperations } from './list-check.js';
import { listReindexOperations } from './list-reindex.js';
import { listOperations } from './list.js';
import type { Operation } from './operation.js';
import { relatedOperations } from './related.js';
import { resourceOperations } from './resource.js';
import { searchResultBulk } from './search-result-bulk.js';
import { searchResultOperations } from './search-result.js';
import { searchOperations } from './search.js';
import { searchableFieldOperations } from './searchable-field.js';
import { secretOperations } from './secret.js';
import { suggestOperations } from './suggest.js';
import { synonymOperations } from './synonyms.js';
import { systemOperations } from './system.js';
import { webhookOperations } from './webhook.js';

export const operations: readonly Operation[] = [
  ...systemOperations,
  ...accountOperations,
  apiKeyCreateReadOnly,
  ...apiKeyOperations,
  ...listOperations,
  ...listCheckOperations,
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
  ...analyticsOperations,
  ...webhookOperations,
  ...secretOperations,
];
