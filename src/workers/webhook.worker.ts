/**
 * The webhook worker: the thread that owns `data/queue` and delivers. Everything it does is in src/webhooks; here is only its
 * conversation with the main thread.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { HttpSender } from '../webhooks/http-sender.js';
import { heardSubscription, systemTimers, WebhookEngine } from '../webhooks/index.js';
import { giveWayToSearches } from './background-thread.js';
import type { FromWebhookWorker, ToWebhookWorker, WebhookQuestion, WebhookWorkerData } from './webhook-messages.js';
import { replyOf } from './worker-reply.js';

if (parentPort === null) throw new Error('this file is the entry of a worker thread');
const port = parentPort;
const say = (message: FromWebhookWorker) => {
  port.postMessage(message);
};
giveWayToSearches('webhooks');

const { queuePath, settings, deliver } = workerData as WebhookWorkerData;
const engine = new WebhookEngine({
  queuePath,
  settings,
  timers: systemTimers,
  deliver,
  sender: new HttpSender({ settings }),
  listener: {
    moved: (sourceId, lastRow) => {
      say({ kind: 'moved', sourceId, lastRow });
    },
    settled: ({ delivered, retried, 'set-aside': setAside }, queued) => {
      say({ kind: 'settled', delivered, retried, setAside, queued });
    },
    failed: (message, error) => {
      say({ kind: 'failed', message, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    },
  },
});

port.on('message', (message: ToWebhookWorker) => {
  switch (message.kind) {
    case 'subscriptions':
      engine.setSubscriptions(message.subscriptions.map(heardSubscription)).catch((error: unknown) => {
        say({
          kind: 'failed',
          message: 'What belonged to deleted webhooks could not be removed',
          reason: String(error),
        });
      });
      break;
    case 'written':
      for (const source of message.sources) engine.wake(source);
      break;
    case 'question': {
      const { number, question } = message;
      void replyOf(() => answer(question)).then((reply) => {
        say({ kind: 'answer', number, reply });
        if (question.kind === 'close') port.close();
      });
    }
  }
});

async function answer(question: WebhookQuestion): Promise<unknown> {
  switch (question.kind) {
    case 'drain':
      await engine.drain(question.source);
      return null;
    case 'ping':
      return (await engine.ping(question.subscriptionId)) ?? null;
    case 'attempts':
      return engine.attempts(question.subscriptionId, question.before, question.size);
    case 'set-aside':
      return engine.setAside(question.subscriptionId, question.after, question.size);
    case 'replay':
      return engine.replay(question.subscriptionId, question.deliveryIds);
    case 'close':
      await engine.close();
      return null;
  }
}
