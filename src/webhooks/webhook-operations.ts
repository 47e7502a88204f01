/** Operations `/webhook`: subscriptions to events and, for the console, the outcomes of deliveries. */
import { Type } from 'typebox';
import { nameMeant, reaches } from '../access/index.js';
import { checkOutboundUrl, OutboundRefusedError, ServiceError } from '../platform/index.js';
import {
  accountName,
  accountParams,
  defineOperation,
  LONG_OPTIONS_BODY_BYTES_MAX,
  nextOf,
  nextPage,
  noParams,
  nullable,
  object,
  pageQuery,
  wantedPage,
  type Declared,
  type Operation,
  type OperationContext,
  type Services,
} from '../operations/index.js';
import { WEBHOOKS } from './webhook-host.js';
import { WEBHOOK_NOT_FOUND } from './webhook-problems.js';
import {
  deliveryId,
  describeAttempt,
  describeSetAside,
  describeWebhook,
  webhookParams,
  webhookSchemas,
  webhookUrl,
  type WebhookSchemas,
} from './webhook-schemas.js';

const CALLERS = ['key', 'console', 'cli'] as const;
const CONSOLE_ONLY = ['console', 'cli'] as const;
const PAGE_SIZE_DEFAULT = 100;
const PAGE_SIZE_MAX = 1000;
/** Maximum of ids per call; without ids, all deliveries are replayed. */
const REPLAYED_IDS_MAX = 1000;

const ofWebhook = { target: 'account', params: webhookParams, errors: [WEBHOOK_NOT_FOUND] } as const;
const pageSize = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: PAGE_SIZE_MAX,
    description: `Number of entries to return; default ${PAGE_SIZE_DEFAULT}`,
  }),
);
const next = (member: string) =>
  nullable(Type.Integer(), { description: `\`${member}\` of the next page; null on the last` });

const events = ({ eventType }: WebhookSchemas) =>
  defineOperation({
    name: 'webhook.events',
    summary: 'List the event types',
    method: 'GET',
    path: '/webhook/events',
    permission: 'webhook:read',
    callers: CALLERS,
    target: 'none',
    params: noParams,
    responses: {
      200: {
        description: 'All event types that a webhook can subscribe to',
        schema: object({
          events: Type.Array(
            object({
              type: eventType,
              description: Type.String({ description: 'When an event of this type is sent' }),
              fires: Type.Boolean({
                description:
                  'Whether this release sends events of this type. A webhook can subscribe to the type in any case',
              }),
            }),
            { description: 'The event types' },
          ),
        }),
      },
    },
    handle: ({ services: { events: known } }) => ({
      status: 200,
      body: {
        events: known.types.map((type) => ({ type, description: known.description(type), fires: known.isFired(type) })),
      },
    }),
  });

const create = ({ webhookEvents, webhookWithSecret }: WebhookSchemas) =>
  defineOperation({
    name: 'webhook.create',
    summary: 'Subscribe a URL to events',
    description:
      'Each event is sent as a `POST` with the JSON body `{"id", "list", "data"}`, signed with the secret in the answer. API keys see the secret only this once. A delivery has failed unless the receiver answers 2xx within 10 s; it is then tried again for hours, and finally set aside. Events of changes that are requested after this answer are sent; events of earlier changes are not.',
    method: 'POST',
    path: '/webhook',
    permission: 'webhook:create',
    callers: CALLERS,
    target: 'none',
    needsWholeAccount: true,
    params: noParams,
    body: object({
      url: webhookUrl,
      events: webhookEvents,
      account: Type.Optional(accountName),
    }),
    responses: { 201: { description: 'The webhook, with its secret', schema: webhookWithSecret } },
    errors: ['out-of-scope', 'account-not-found', 'conflict', 'storage-full'],
    async handle({ services, caller }, { body }) {
      const account = accountOf(services, caller, body.account);
      checkUrl(services, body.url);
      const settings = { url: body.url, events: body.events };
      const { subscription, secret } = await services.part(WEBHOOKS).subscriptions.create(account, settings);
      return { status: 201, body: { ...described(services, subscription), secret: secret.reveal() } };
    },
  });

/**
 * Returns the account of the key, or the one named by the console or the command line. Throws if it is missing or out
 * of reach.
 */
function accountOf(services: Services, caller: OperationContext['caller'], named: string | undefined): string {
  const account = named ?? caller.account;
  if (account === undefined) {
    const detail = 'Without an API key, the body must name the account.';
    throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/account', detail }] });
  }
  if (!reaches(caller, { kind: 'account', account }, services.catalog)) {
    throw new ServiceError('out-of-scope', `This key does not reach the account '${account}' as a whole.`);
  }
  if (services.catalog.account(account) === undefined) {
    const meant = nameMeant(caller, { kind: 'account', account }, services.catalog);
    throw new ServiceError('account-not-found', `There is no account '${account}'.${meant}`);
  }
  return account;
}

function checkUrl({ config }: Services, url: string): void {
  try {
    checkOutboundUrl(url, config.outbound);
  } catch (error) {
    if (!(error instanceof OutboundRefusedError)) throw error;
    throw new ServiceError('invalid-parameter', error.message, {
      errors: [{ pointer: '/url', detail: error.message }],
    });
  }
}

function described({ clock }: Services, subscription: Parameters<typeof describeWebhook>[0]) {
  return describeWebhook(subscription, clock.nowMs());
}

const list = ({ webhookResource }: WebhookSchemas) =>
  defineOperation({
    name: 'webhook.list',
    summary: 'List the webhooks of an account',
    description: 'Secrets are not returned.',
    method: 'GET',
    path: '/webhook/{account}',
    permission: 'webhook:read',
    callers: CALLERS,
    target: 'account',
    params: accountParams,
    query: pageQuery,
    responses: {
      200: {
        description: 'The webhooks, in order of creation',
        schema: object({ webhooks: Type.Array(webhookResource, { description: 'The webhooks' }), next: nextPage }),
      },
    },
    handle({ services }, { params, query }) {
      const page = services.part(WEBHOOKS).subscriptions.page(params.account, wantedPage(query));
      return {
        status: 200,
        body: { webhooks: page.entries.map((each) => described(services, each)), ...nextOf(page) },
      };
    },
  });

const read = ({ webhookResource }: WebhookSchemas) =>
  defineOperation({
    ...ofWebhook,
    name: 'webhook.read',
    summary: 'Read a webhook',
    method: 'GET',
    path: '/webhook/{account}/{id}',
    permission: 'webhook:read',
    callers: CALLERS,
    responses: { 200: { description: 'The webhook', schema: webhookResource } },
    handle: ({ services }, { params: { account, id } }) => ({
      status: 200,
      body: described(services, services.part(WEBHOOKS).subscriptions.required(account, id)),
    }),
  });

const update = ({ webhookEvents, webhookResource }: WebhookSchemas) =>
  defineOperation({
    ...ofWebhook,
    name: 'webhook.update',
    summary: 'Change the URL or events of a webhook',
    description:
      'Members that are not given keep their value. Waiting deliveries are sent to the new URL. Those of events that the webhook no longer subscribes to when they are due are not sent.',
    method: 'PUT',
    path: '/webhook/{account}/{id}',
    permission: 'webhook:update',
    callers: CALLERS,
    body: object({ url: Type.Optional(webhookUrl), events: Type.Optional(webhookEvents) }),
    responses: { 200: { description: 'The webhook', schema: webhookResource } },
    errors: [...ofWebhook.errors, 'storage-full'],
    async handle({ services }, { params: { account, id }, body }) {
      if (body.url !== undefined) checkUrl(services, body.url);
      return {
        status: 200,
        body: described(services, await services.part(WEBHOOKS).subscriptions.update(account, id, body)),
      };
    },
  });

const remove = defineOperation({
  ...ofWebhook,
  name: 'webhook.delete',
  summary: 'Delete a webhook',
  description: 'Also deletes its waiting deliveries, those that were set aside, and its delivery log.',
  method: 'DELETE',
  path: '/webhook/{account}/{id}',
  permission: 'webhook:delete',
  callers: CALLERS,
  responses: { 204: { description: 'The webhook was deleted', schema: null } },
  errors: [...ofWebhook.errors, 'storage-full'],
  async handle({ services }, { params: { account, id } }) {
    await services.part(WEBHOOKS).subscriptions.delete(account, id);
    return { status: 204 };
  },
});

const test = defineOperation({
  ...ofWebhook,
  name: 'webhook.test',
  summary: 'Send a ping to a webhook',
  description: 'Sends the event `webhook.ping` in the background, whether or not the webhook subscribes to it.',
  method: 'POST',
  path: '/webhook/{account}/{id}/test',
  permission: 'webhook:test',
  callers: CALLERS,
  responses: { 202: { description: 'The ping will be sent', schema: object({ delivery: deliveryId }) } },
  errors: [...ofWebhook.errors, 'storage-full'],
  async handle({ services }, { params: { account, id } }) {
    const subscription = services.part(WEBHOOKS).subscriptions.required(account, id);
    return { status: 202, body: { delivery: await services.part(WEBHOOKS).ping(subscription) } };
  },
});

const readSecret = ({ webhookWithSecret }: WebhookSchemas) =>
  defineOperation({
    ...ofWebhook,
    name: 'webhook.secret',
    summary: 'Show the secret of a webhook again',
    description:
      'Needs the same permission as replacing the secret. If the secret cannot be decrypted because its encryption key is lost, the answer is 422: replace the secret then.',
    method: 'GET',
    path: '/webhook/{account}/{id}/secret',
    permission: 'webhook:update',
    callers: CONSOLE_ONLY,
    responses: {
      200: { description: 'The webhook, with its secret', schema: webhookWithSecret },
    },
    errors: [...ofWebhook.errors, 'unprocessable'],
    handle({ services }, { params: { account, id } }) {
      const subscription = services.part(WEBHOOKS).subscriptions.required(account, id);
      if (subscription.secret === null)
        throw new ServiceError(
          'unprocessable',
          'The secret cannot be decrypted: the encryption key that it needs is not among those of the service. Rotate the secret to get a new one.',
        );
      return {
        status: 200,
        body: { ...described(services, subscription), secret: subscription.secret.reveal() },
      };
    },
  });

const rotateSecret = ({ webhookWithSecret }: WebhookSchemas) =>
  defineOperation({
    ...ofWebhook,
    name: 'webhook.rotate-secret',
    summary: 'Replace the secret of a webhook',
    description:
      'For 24 hours, deliveries are signed with both secrets: `X-Service-Signature` with the new one, `X-Service-Signature-Previous` with the old one, `webhook-signature` with both.',
    method: 'POST',
    path: '/webhook/{account}/{id}/rotate-secret',
    permission: 'webhook:update',
    callers: CONSOLE_ONLY,
    responses: { 200: { description: 'The webhook, with its new secret', schema: webhookWithSecret } },
    errors: [...ofWebhook.errors, 'storage-full'],
    async handle({ services }, { params: { account, id } }) {
      const { subscription, secret } = await services.part(WEBHOOKS).subscriptions.rotateSecret(account, id);
      return { status: 200, body: { ...described(services, subscription), secret: secret.reveal() } };
    },
  });

const deliveries = ({ attemptResource }: WebhookSchemas) =>
  defineOperation({
    ...ofWebhook,
    name: 'webhook.deliveries',
    summary: 'Read the delivery log of a webhook',
    description: 'Lists every attempt of the last 30 days, newest first.',
    method: 'GET',
    path: '/webhook/{account}/{id}/deliveries',
    permission: 'webhook:read',
    callers: CONSOLE_ONLY,
    query: object({
      size: pageSize,
      before: Type.Optional(Type.Integer({ minimum: 1, description: '`next` of the page before' })),
    }),
    responses: {
      200: {
        description: 'A page of attempts',
        schema: object({
          attempts: Type.Array(attemptResource, { description: 'The attempts' }),
          next: next('before'),
        }),
      },
    },
    async handle({ services }, { params: { account, id }, query }) {
      services.part(WEBHOOKS).subscriptions.required(account, id);
      const page = await services.part(WEBHOOKS).attempts(id, query.before, query.size ?? PAGE_SIZE_DEFAULT);
      return { status: 200, body: { attempts: page.attempts.map(describeAttempt), next: page.next ?? null } };
    },
  });

const setAside = ({ setAsideResource }: WebhookSchemas) =>
  defineOperation({
    ...ofWebhook,
    name: 'webhook.set-aside',
    summary: 'List deliveries that were set aside',
    description:
      'Lists deliveries whose attempts all failed, in the order of their events. They are kept until they are replayed or the webhook is deleted.',
    method: 'GET',
    path: '/webhook/{account}/{id}/set-aside',
    permission: 'webhook:read',
    callers: CONSOLE_ONLY,
    query: object({
      size: pageSize,
      after: Type.Optional(Type.Integer({ minimum: 1, description: '`next` of the page before' })),
    }),
    responses: {
      200: {
        description: 'A page of deliveries',
        schema: object({
          total_count: Type.Integer({ minimum: 0, description: 'Number of deliveries that are set aside' }),
          deliveries: Type.Array(setAsideResource, { description: 'The deliveries' }),
          next: next('after'),
        }),
      },
    },
    async handle({ services }, { params: { account, id }, query }) {
      services.part(WEBHOOKS).subscriptions.required(account, id);
      const page = await services.part(WEBHOOKS).setAside(id, query.after ?? 0, query.size ?? PAGE_SIZE_DEFAULT);
      const found = page.deliveries.map(describeSetAside);
      return { status: 200, body: { total_count: page.total, deliveries: found, next: page.next ?? null } };
    },
  });

const replay = defineOperation({
  ...ofWebhook,
  name: 'webhook.replay',
  summary: 'Replay deliveries that were set aside',
  description:
    'Sends deliveries again that were set aside. They keep their `X-Service-Delivery`, and get as many attempts as new ones. Those of events that the webhook no longer subscribes to stay set aside.',
  method: 'POST',
  path: '/webhook/{account}/{id}/replay',
  permission: 'webhook:update',
  callers: CONSOLE_ONLY,
  bodyBytesMax: LONG_OPTIONS_BODY_BYTES_MAX,
  body: object({
    deliveries: Type.Optional(
      Type.Array(deliveryId, {
        minItems: 1,
        maxItems: REPLAYED_IDS_MAX,
        description: 'Ids of the deliveries to replay. Without it, all that are set aside are replayed',
      }),
    ),
  }),
  responses: {
    200: {
      description: 'The deliveries will be sent again',
      schema: object({
        replayed: Type.Integer({
          minimum: 0,
          description: 'Number of deliveries that will be sent again. Ids that are not set aside are not counted',
        }),
      }),
    },
  },
  errors: [...ofWebhook.errors, 'storage-full'],
  async handle({ services }, { params: { account, id }, body }) {
    services.part(WEBHOOKS).subscriptions.required(account, id);
    return { status: 200, body: { replayed: await services.part(WEBHOOKS).replay(id, body.deliveries) } };
  },
});

/** `events`: the events that can be subscribed to. */
export function webhookOperations({ events: known }: Pick<Declared, 'events'>): readonly Operation[] {
  const schemas = webhookSchemas(known);
  const ofSchemas = [events, create, list, read, update, readSecret, rotateSecret, deliveries, setAside];
  return [...ofSchemas.map((operation) => operation(schemas)), remove, test, replay];
}
