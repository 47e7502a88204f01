/** The `webhooks` of the OpenAPI document: deliveries to receivers, from the catalogue of events. */
import type { EventCatalogue } from '../../platform/index.js';

type Json = Readonly<Record<string, unknown>>;

const HEADERS = {
  'X-Service-Event': 'The event type',
  'X-Service-Delivery': 'Id of the delivery, the same for every attempt. Store it and ignore repeats',
  'X-Service-Timestamp': 'When it was signed, Unix seconds',
  'X-Service-Signature':
    '`sha256=` and the lower-case hex HMAC-SHA256 of timestamp, dot and raw body, keyed with the bytes that the base64 secret stands for',
  'webhook-id': 'As `X-Service-Delivery` (Standard Webhooks)',
  'webhook-timestamp': 'As `X-Service-Timestamp` (Standard Webhooks)',
  'webhook-signature': '`v1,` and base64, of each secret in force, separated by blanks (Standard Webhooks)',
} as const;

/** Tag under which deliveries are described. */
export const EVENT_TAG = 'event';

/** Schema of a delivery, for the document's components. */
export const DELIVERY_SCHEMA: Json = {
  type: 'object',
  required: ['id', 'list', 'data'],
  properties: {
    id: {
      type: 'string',
      description: 'Id of the record or key, name of the list, group or field; empty for a bulk call',
    },
    list: { type: 'string', description: 'Name of the list; empty if the event is not about one list' },
    data: {
      type: 'object',
      description: 'For a record: `name`, `fields`, and `previous_name` after a rename. For a bulk call: `count`',
    },
  },
};

export function describeWebhookEvents(events: EventCatalogue): Json {
  return Object.fromEntries(
    events.types.map((type) => [
      type,
      {
        post: {
          operationId: `event.${type}`,
          // Differs from the tag of the operations on webhooks, since generated clients have a file per tag.
          tags: [EVENT_TAG],
          summary: events.description(type),
          ...(events.isFired(type) ? {} : { 'x-fires': false }),
          parameters: [
            ...Object.entries(HEADERS).map(([name, text]) => headerParameter(name, text, true)),
            headerParameter(
              'X-Service-Signature-Previous',
              'By the old secret, for a day after it was replaced',
              false,
            ),
          ],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/WebhookDelivery' } } },
          },
          // Deliveries are authenticated by their signature.
          security: [],
          responses: {
            '2XX': { description: 'Accepted' },
            default: { description: 'Not taken: tried again, and set aside in the end' },
          },
        },
      },
    ]),
  );
}

function headerParameter(name: string, description: string, required: boolean): Json {
  return { name, in: 'header', required, description, schema: { type: 'string' } };
}
