/**
 * The webhook worker: the thread that owns `data/queue` and delivers. What it does is in `webhook-engine.ts`; here is only its
 * conversation with the main thread.
 */
import { serveHost } from '../platform/hosts/serve-host.js';
import { HttpSender } from './http-sender.js';
import { heardSubscription, systemTimers } from './types.js';
import { WebhookEngine } from './webhook-engine.js';
import type { WebhookProtocol, WebhookWorkerData } from './webhook-protocol.js';

serveHost<WebhookProtocol>((data, emit) => {
  const { queuePath, settings, deliver } = data as WebhookWorkerData;
  const engine = new WebhookEngine({
    queuePath,
    settings,
    timers: systemTimers,
    deliver,
    sender: new HttpSender({ settings }),
    listener: {
      moved: (sourceId, lastRow) => {
        emit('moved', { sourceId, lastRow });
      },
      settled: ({ delivered, retried, 'set-aside': setAside }, queued) => {
        emit('settled', { delivered, retried, setAside, queued });
      },
      failed: (message, error) => {
        emit('failed', { message, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      },
    },
  });
  return {
    answers: {
      drain: async (source) => {
        await engine.drain(source);
        return null;
      },
      ping: async (subscriptionId) => (await engine.ping(subscriptionId)) ?? null,
      attempts: ({ subscriptionId, before, size }) => engine.attempts(subscriptionId, before, size),
      'set-aside': ({ subscriptionId, after, size }) => engine.setAside(subscriptionId, after, size),
      replay: ({ subscriptionId, deliveryIds }) => engine.replay(subscriptionId, deliveryIds),
    },
    notices: {
      subscriptions: ({ subscriptions, removed }) => {
        engine.setSubscriptions(subscriptions.map(heardSubscription), removed).then(
          () => {
            if (removed.length > 0) emit('forgotten', removed);
          },
          (error: unknown) => {
            const message = 'What belonged to deleted webhooks could not be removed';
            emit('failed', { message, reason: String(error) });
          },
        );
      },
      written: (sources) => {
        for (const source of sources) engine.wake(source);
      },
    },
    close: () => engine.close(),
  };
});
