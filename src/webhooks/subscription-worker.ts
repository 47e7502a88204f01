/** Does the work of one subscription's lane: signs and sends one delivery per attempt. One thread only. */
import type { AttemptedWork, BecameOfWork, LaneWorker, Timers, Work, WorkOutcome } from '../platform/work/index.js';
import type { DeliveryItem, DeliveryTypes } from './delivery-work.js';
import type { Sender } from './http-sender.js';
import { deliveryHeaders, secretsInForce } from './signature.js';
import { isSent, type AttemptResult, type LoggedAttempt, type SetAsideDelivery, type Subscription } from './types.js';

const SECRET_UNREADABLE: AttemptResult = {
  ok: false,
  status: null,
  error: 'not sent: the key that its secret was sealed with is not there; give it a new secret',
  durationMs: 0,
  answer: '',
};
/** Of a delivery that is dropped. Known by its identity. */
const NOT_WANTED: AttemptResult = { ok: true, status: null, error: null, durationMs: 0, answer: '' };
const OUTCOMES = { done: 'delivered', retried: 'retried', 'set-aside': 'set-aside' } as const;

export class SubscriptionWorker implements LaneWorker<DeliveryTypes> {
  readonly batchMax = 1;

  constructor(
    public subscription: Subscription,
    private readonly options: { readonly sender: Sender; readonly timers: Timers },
  ) {}

  get owner(): string {
    return this.subscription.account;
  }

  get receiver(): string {
    return new URL(this.subscription.url).origin;
  }

  perform(work: readonly Work<DeliveryItem>[], abort: AbortSignal): Promise<WorkOutcome<AttemptResult>[]> {
    return Promise.all(
      work.map(async ({ item }) => {
        const result = await this.send(item, abort);
        return { verdict: result.ok ? 'done' : 'failed', result } as const;
      }),
    );
  }

  note({ work, result, attempt, atMs }: AttemptedWork<DeliveryTypes>, became: BecameOfWork): LoggedAttempt | null {
    if (result === NOT_WANTED) return null;
    const { id: deliveryId, event } = work.item;
    return { ...result, deliveryId, type: event.type, attempt, atMs, outcome: OUTCOMES[became] };
  }

  failure({ work, result, attempt }: AttemptedWork<DeliveryTypes>, setAsideAtMs: number): SetAsideDelivery {
    const { id: deliveryId, event } = work.item;
    const { status, error } = result;
    return { deliveryId, type: event.type, attempts: attempt, eventAtMs: event.atMs, setAsideAtMs, status, error };
  }

  /**
   * Sends nothing without a secret, since receivers reject unsigned messages; and no event that the webhook no longer
   * subscribes to, since only subscribed events are sent.
   */
  private async send(item: DeliveryItem, abort: AbortSignal): Promise<AttemptResult> {
    if (!isSent(this.subscription, item.event.type)) return NOT_WANTED;
    const nowMs = this.options.timers.nowMs();
    const secrets = secretsInForce(this.subscription, nowMs);
    if (secrets.length === 0) return SECRET_UNREADABLE;
    const headers = deliveryHeaders(item, secrets, nowMs);
    return this.options.sender.send({ url: this.subscription.url, headers, body: item.event.body }, abort);
  }
}
