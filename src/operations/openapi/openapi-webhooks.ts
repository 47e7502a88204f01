/** The `webhooks` of the OpenAPI document: deliveries to receivers, from the catalogue of events. */
import type { EventCatalogue } from '../../platform/index.js';

type Json = Readonly<Record<string, unknown>>;

const HEADERS = {
  'X-Service-Event': 'Event type',
  'X-Service-Delivery':
    'Id of the delivery, the same for every attempt. Store it, and ignore deliveries with an id that you have seen',
  'X-Service-Timestamp':
    'Time of the signature in Unix seconds. Reject a time that is more than a few minutes off your clock',
  'X-Service-Signature':
    '`sha256=` followed by the lower-case hex HMAC-SHA256 of `<timestamp>.<raw body>`. The key is the secret of the webhook, decoded from base64. Compare it in constant time',
  'webhook-id': 'Same as `X-Service-Delivery`, for libraries of Standard Webhooks',
  'webhook-timestamp': 'Same as `X-Service-Timestamp`, for libraries of Standard Webhooks',
  'webhook-signature':
    'Signatures of Standard Webhooks: `v1,` followed by a base64 signature, one for each secret in force, separated by spaces',
} as const;

/** Tag under which deliveries are described. */
export const EVENT_TAG = 'event';

/** Schema of a delivery, for the document's components. */
export const DELIVERY_SCHEMA: Json = {
  type: 'object',
  description: 'Body of a webhook delivery.',
  required: ['id', 'list', 'data'],
  properties: {
    id: {
      type: 'string',
      description:
        'Id of the record, API key, person or webhook; name of the list, group, field, media store or account; `<store>/<path>` of a file. Empty for a bulk call',
    },
    list: { type: 'string', description: 'Name of the list. Empty if the event is not about one list' },
    data: {
      type: 'object',
      description:
        'Data of the event. For a record: `name`, `fields`, and `previous_name` after a rename. For a bulk call: `count`, of which `created` were added and `updated` replaced',
    },
  },
  examples: [
    {
      id: '019390ab-7f1e-7c3a-8b52-0f4a1c2d3e4f',
      list: 'films',
      data: { name: 'film-17', fields: { title: 'The Gannet', year: 1983 } },
    },
  ],
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
              'Like `X-Service-Signature`, made with the old secret. Sent for 24 hours after the secret was replaced',
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
            default: {
              description:
                'Any other status, or no answer in time: the delivery is tried again for hours, then set aside',
            },
          },
        },
      },
    ]),
  );
}

function headerParameter(name: string, description: string, required: boolean): Json {
  return { name, in: 'header', required, description, schema: { type: 'string' } };
}
