/** Events: their catalogue, and the outbox that carries them from the change to whoever listens. */
export * from './event-types.js';
export * from './event-sink.js';
export * from './outbox.js';
