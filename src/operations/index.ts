export { HeadedBytes } from './answer-cache/headed-bytes.js';
export { EVENT_STREAM_TYPE, EventStream, type EventClient } from './dispatch/event-stream.js';
export * from './dispatch/operation.js';
export { StreamedBody, type StreamedBodyOptions } from './dispatch/streamed-body.js';
export * from './dispatch/services.js';
export { AnswerCache, type AnswerCacheOptions } from './answer-cache/answer-cache.js';
export { createDispatcher, type Credential, type Dispatcher, type PathParams } from './dispatch/dispatch.js';
export { openApiDocument } from './openapi/openapi.js';
export { loggedCaller, loggedNames } from './dispatch/logged-call.js';
export { coercionsOf, decodePathText } from './dispatch/query-string.js';
export { jsonBodyBytesMax, tooLarge } from './dispatch/body-limit.js';
export { firstForm } from './dispatch/first-form.js';
export { membersOf, placesOf, type ParameterPlace } from './dispatch/parameter-places.js';
export { asServiceError } from './dispatch/service-errors.js';
export {
  provide,
  type Declared,
  type Feature,
  type FeatureEnvironment,
  type FeatureParts,
  type FeaturePlatform,
  type OpenFeature,
  type ProvidedPart,
} from './dispatch/feature.js';
export type { ListExtension, ListMember, ListSetting } from './dispatch/list-extension.js';
export { withListExtensions } from './api/extended-lists.js';
export type { AnswerPrinter, CommandSpec, CommandText, TypedOptions, JobFollower } from './dispatch/command.js';
export { OpenFeatures } from './dispatch/open-features.js';
export { reservedAccountNames } from './dispatch/reserved-names.js';
export { AGENTS_PATH, agentToolName, isAgentTool } from './dispatch/agent-tools.js';
export { changedDefinition } from './api/list-definition.js';
export * from './api/schemas.js';
export { searchFor } from './api/search.js';
export { previewSynonymRule } from './api/synonym-preview.js';
export { synonymWords } from './api/synonym-rules.js';
export { synonymRule } from './api/synonym-schemas.js';
export { searchBody, searchQuery } from './api/search-options.js';
export { searchResponse } from './api/search-response.js';
export {
  groupSearchParams,
  groupTargets,
  listSearchParams,
  listTargets,
  requireGroup,
  type OpeningTargets,
  type SearchTargets,
} from './api/search-targets.js';
export { openIndex, requireList, searchSettings } from './dispatch/list-access.js';
export { operations } from './registry.js';
export { accountOperations } from './api/account.js';
export { progressOperations } from './api/progress.js';
export { serviceSettingsOperations } from './api/service-settings.js';
export { serviceStateOperations } from './api/service-state.js';
export { systemOperations } from './api/system.js';
export { finishWork } from './dispatch/unfinished-work.js';
export { compileCheck, type SchemaCheck } from './dispatch/schema-validation.js';
export { createValidator, isStreamBody, jsonBounds, parseJson, throwFaults } from './dispatch/validation.js';
export type { BackupState, ServiceState, Trouble } from './dispatch/service-state.js';
