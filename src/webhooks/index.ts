/**
 * Webhooks: subscriptions and the host of the worker (main thread), and the engine that delivers to them (the worker's
 * thread).
 */
export * from './types.js';
export { SubscriptionStore, type SubscriptionSettings, type SubscriptionStoreOptions } from './subscription-store.js';
export type { LogPage } from './delivery-log.js';
// `http-sender.js`, which sends over HTTP, is imported directly, since only the worker's thread needs it.
export type { Sender } from './http-sender.js';
export { WebhookEngine, type EngineListener, type EngineOptions, type SetAsidePage } from './webhook-engine.js';
export { WebhookHost, type WebhookHostOptions } from './webhook-host.js';
