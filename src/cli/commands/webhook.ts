/** `gannet webhook list|create|delete|test|secret|rotate-secret|deliveries|replay`. */
import { membersOf } from '../answers.js';
import { readListing } from '../listing.js';
import { writeJson, type CommandContext } from '../command-context.js';
import { EXIT, type ExitStatus } from '../exit-codes.js';
import { formatMilliseconds, printable, shorten, table } from '../output.js';
import type { ServiceClient } from '../service-client.js';
import { tellStopped } from '../stopped-note.js';
import { splitList } from './key.js';

export interface WebhookOptions {
  readonly account?: string;
  readonly json?: boolean;
}

export interface WebhookCreateOptions extends WebhookOptions {
  readonly url: string;
  readonly events: string;
}

export interface WebhookDeliveriesOptions extends WebhookOptions {
  readonly setAside?: boolean;
  readonly size: number;
}

export interface WebhookReplayOptions extends WebhookOptions {
  readonly deliveries?: string;
}

interface WebhookResource {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
}

interface WithSecret extends WebhookResource {
  readonly secret: string;
}

interface AttemptResource {
  readonly delivery: string;
  readonly event: string;
  readonly attempt: number;
  readonly at_utc: string;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly outcome: string;
}

interface SetAsideResource {
  readonly delivery: string;
  readonly event: string;
  readonly attempts: number;
  readonly set_aside_utc: string;
  readonly status: number | null;
  readonly error: string | null;
}

const ERROR_COLUMNS = 60;

export async function listWebhooks(context: CommandContext, options: WebhookOptions): Promise<ExitStatus> {
  const account = accountOf(context, options);
  const answer = await context.withData((client) => readListing(client, 'webhook.list', { account }));
  return show(context, options, answer, () => {
    const webhooks = membersOf<WebhookResource>(answer, 'webhooks');
    if (webhooks.length === 0)
      return `The account ${account} has no webhooks. Create one with gannet webhook create.\n`;
    const rows = webhooks.map(({ id, url, events }) => [id, printable(url), events.join(',')]);
    return table([['ID', 'URL', 'EVENTS'], ...rows]);
  });
}

export async function createWebhook(context: CommandContext, options: WebhookCreateOptions): Promise<ExitStatus> {
  const body = { account: accountOf(context, options), url: options.url, events: splitList(options.events) };
  return showSecret(context, options, (await call(context, 'webhook.create', { body })) as WithSecret);
}

export async function deleteWebhook(context: CommandContext, id: string, options: WebhookOptions): Promise<ExitStatus> {
  await call(context, 'webhook.delete', { params: { account: accountOf(context, options), id } });
  return show(context, options, { id, deleted: true }, () => `Deleted the webhook ${id} and its waiting deliveries.\n`);
}

export async function testWebhook(context: CommandContext, id: string, options: WebhookOptions): Promise<ExitStatus> {
  const params = { account: accountOf(context, options), id };
  const answer = (await queue(context, 'webhook.test', { params })) as { readonly delivery: string };
  return show(
    context,
    options,
    answer,
    () => `Queued the ping ${answer.delivery}. gannet webhook deliveries ${id} shows the result.\n`,
  );
}

export async function readSecret(context: CommandContext, id: string, options: WebhookOptions): Promise<ExitStatus> {
  const params = { account: accountOf(context, options), id };
  return showSecret(context, options, (await call(context, 'webhook.secret', { params })) as WithSecret);
}

export async function rotateSecret(context: CommandContext, id: string, options: WebhookOptions): Promise<ExitStatus> {
  const params = { account: accountOf(context, options), id };
  return showSecret(context, options, (await call(context, 'webhook.rotate-secret', { params })) as WithSecret);
}

/** Lists the newest attempts, or with `--set-aside` the deliveries that failed permanently. */
export async function listDeliveries(
  context: CommandContext,
  id: string,
  options: WebhookDeliveriesOptions,
): Promise<ExitStatus> {
  const input = { params: { account: accountOf(context, options), id }, query: { size: options.size } };
  const answer = await call(context, options.setAside === true ? 'webhook.set-aside' : 'webhook.deliveries', input);
  return show(context, options, answer, () =>
    options.setAside === true ? setAsideTable(answer) : attemptTable(answer),
  );
}

export async function replayDeliveries(
  context: CommandContext,
  id: string,
  options: WebhookReplayOptions,
): Promise<ExitStatus> {
  const body = options.deliveries === undefined ? {} : { deliveries: splitList(options.deliveries) };
  const params = { account: accountOf(context, options), id };
  const answer = (await queue(context, 'webhook.replay', { params, body })) as { readonly replayed: number };
  return show(context, options, answer, () =>
    answer.replayed === 1 ? 'Queued 1 delivery again.\n' : `Queued ${answer.replayed} deliveries again.\n`,
  );
}

function accountOf(context: CommandContext, options: WebhookOptions): string {
  return options.account ?? context.config.account.name;
}

interface WebhookInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, number>>;
  readonly body?: unknown;
}

function call(context: CommandContext, operation: string, input: WebhookInput): Promise<unknown> {
  const called = (client: ServiceClient) => client.call(operation, input);
  return operation === 'webhook.create' ? context.withService(called) : context.withData(called);
}

/** Calls an operation whose effect, a delivery, is sent later by the running service. */
function queue(context: CommandContext, operation: string, input: WebhookInput): Promise<unknown> {
  return context.withData(async (client) => {
    const answer = await client.call(operation, input);
    if (client.transport === 'data directory') tellStopped(context.output, 'nothing is sent until it runs');
    return answer;
  });
}

function show(context: CommandContext, { json }: WebhookOptions, answer: unknown, text: () => string): ExitStatus {
  if (json === true) writeJson(context.output, answer);
  else context.output.write(text());
  return EXIT.done;
}

/** Writes only the secret to standard output, so that a script can read it. */
function showSecret(context: CommandContext, options: WebhookOptions, webhook: WithSecret): ExitStatus {
  const status = show(context, options, webhook, () => `${webhook.secret}\n`);
  if (options.json !== true) {
    context.output.note(`Signing secret of the webhook ${webhook.id}. To print it again, run gannet webhook secret.\n`);
  }
  return status;
}

function attemptTable(answer: unknown): string {
  const attempts = membersOf<AttemptResource>(answer, 'attempts');
  if (attempts.length === 0) return 'No deliveries in the last 30 days.\n';
  const rows = attempts.map((each) => [
    each.at_utc,
    each.event,
    each.delivery,
    String(each.attempt),
    described(each),
    formatMilliseconds(each.duration_ms),
    each.outcome,
  ]);
  return table([['AT', 'EVENT', 'DELIVERY', 'ATTEMPT', 'ANSWER', 'TOOK', 'OUTCOME'], ...rows]);
}

function setAsideTable(answer: unknown): string {
  const deliveries = membersOf<SetAsideResource>(answer, 'deliveries');
  if (deliveries.length === 0) return 'No deliveries are set aside.\n';
  const rows = deliveries.map((each) => [
    each.set_aside_utc,
    each.event,
    each.delivery,
    String(each.attempts),
    described(each),
  ]);
  return table([['SET ASIDE', 'EVENT', 'DELIVERY', 'ATTEMPTS', 'LAST ANSWER'], ...rows]);
}

function described({ status, error }: Pick<AttemptResource, 'status' | 'error'>): string {
  return status === null ? shorten(printable(error ?? 'none'), ERROR_COLUMNS) : String(status);
}
