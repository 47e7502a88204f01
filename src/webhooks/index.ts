/** Webhooks: subscriptions and the host of the worker (main thread), and the engine that delivers to them (the worker's thread). */
export * from './types.js';
export { SubscriptionStore, type SubscriptionSettings, type SubscriptionStoreOptions } from './subscription-store.js';
export type { LogPage } from './delivery-log.js';
// What sends over HTTP is in `http-sender.js`, which is entered directly: only the worker's thread has a use for it.
export type { Sender } from './http-sender.js';
export { WebhookEngine, type EngineListener, type EngineOptions, type SetAsidePage } from './webhook-engine.js';
export { WebhookHost, type WebhookHostOptions } from './webhook-host.js';
