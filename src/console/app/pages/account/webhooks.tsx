import { Anchor, Button, Checkbox, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import {
  webhookCreate,
  webhookCreateSchemas,
  webhookDelete,
  webhookEvents,
  webhookList,
  webhookRotateSecret,
  webhookSecret,
  webhookTest,
  webhookUpdate,
  type WebhookCreateInput,
  type WebhookListOutput,
} from '../../service/client.js';
import { reading, readingAll, useChange } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { Empty } from '../../ui/empty.js';
import { useDraft } from '../../ui/draft.js';
import { editing, FormModal } from '../../ui/form-modal.js';
import { useFoundRows } from '../../ui/found-rows.js';
import { Page } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { prose } from '../../ui/prose.js';
import { SecretOnce } from '../../ui/secret.js';
import { DeliveryLog } from './delivery-log.js';

type Webhook = WebhookListOutput['webhooks'][number];
/** Signing secret of a webhook, or the error on reading it. */
interface Shown extends Pick<Webhook, 'id' | 'url'> {
  readonly secret?: string;
  readonly error?: unknown;
}
type EventType = WebhookCreateInput['body']['events'][number];

/** Webhooks of the account. */
export function Webhooks() {
  const account = useAccount();
  const may = useMay();
  const { webhook: shown } = useSearch({ from: '/$account/webhooks' });
  const [told, setTold] = useState<Shown>();
  const { webhooks } = useSuspenseQuery(readingAll(webhookList, { params: { account } })).data;
  const { shown: rows, find, more } = useFoundRows(webhooks, { label: text.webhooks.find, textOf });
  const open = webhooks.find(({ id }) => id === shown);
  return (
    <Page
      title={text.webhooks.title}
      lead={text.webhooks.lead}
      actions={may(webhookCreate) ? <WebhookForm onSecret={setTold} /> : undefined}
    >
      {told?.secret === undefined ? null : (
        <SecretOnce title={text.webhooks.secretOf(told.url)} secret={told.secret} hint={text.webhooks.secretHint} />
      )}
      <Problem error={told?.error} />
      {webhooks.length === 0 ? <Empty step={webhookCreate}>{text.webhooks.none}</Empty> : null}
      {find}
      {rows.length === 0 ? null : (
        <Columns heads={[text.webhooks.url, text.webhooks.events, '']} label={text.webhooks.title} minWidth={900}>
          {rows.map((webhook) => (
            <WebhookRow
              key={webhook.id}
              webhook={webhook}
              onSecret={setTold}
              onDeleted={() => {
                setTold((now) => (now?.id === webhook.id ? undefined : now));
              }}
            />
          ))}
        </Columns>
      )}
      {more}
      {open === undefined ? null : <DeliveryLog webhook={open} />}
    </Page>
  );
}

const textOf = ({ url, events }: Webhook): string => [url, ...events].join(' ');

interface WebhookRowProps {
  readonly webhook: Webhook;
  readonly onSecret: (told: Shown) => void;
  readonly onDeleted: () => void;
}

function WebhookRow({ webhook, onSecret, onDeleted }: WebhookRowProps) {
  const account = useAccount();
  const may = useMay();
  const { id, url, events } = webhook;
  const params = { account, id };
  const remove = useChange(webhookDelete);
  const rotate = useChange(webhookRotateSecret);
  return (
    <Table.Tr>
      <Table.Th scope="row" miw={240} style={{ overflowWrap: 'anywhere' }}>
        <Anchor
          component={Link}
          to="/$account/webhooks"
          params={{ account } as never}
          search={{ webhook: id } as never}
        >
          {url}
        </Anchor>
      </Table.Th>
      <Table.Td>
        <Text size="sm" lineClamp={2}>
          {events.join(', ')}
        </Text>
      </Table.Td>
      <Table.Td>
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          {may(webhookTest) ? <Ping id={id} /> : null}
          {may(webhookUpdate) ? <WebhookForm webhook={webhook} onSecret={onSecret} /> : null}
          {may(webhookSecret) ? <ShowSecret webhook={webhook} onSecret={onSecret} /> : null}
          {may(webhookRotateSecret) ? (
            <ConfirmButton
              label={text.webhooks.rotate}
              question={text.webhooks.rotateQuestion(url)}
              onConfirm={() =>
                rotate.mutateAsync({ params }).then((rotated) => {
                  onSecret(rotated);
                })
              }
            />
          ) : null}
          {may(webhookDelete) ? (
            <ConfirmButton
              label={text.webhooks.delete}
              short={text.common.delete}
              question={text.webhooks.deleteQuestion(url)}
              onConfirm={() => remove.mutateAsync({ params }).then(onDeleted)}
              button={{ 'aria-label': text.common.deleteOf(url) }}
            />
          ) : null}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

/** Reads the secret only on a click, and does not cache it. */
function ShowSecret({ webhook: { id, url }, onSecret }: Pick<WebhookRowProps, 'webhook' | 'onSecret'>) {
  const account = useAccount();
  const show = useChange(webhookSecret);
  return (
    <Button
      variant="default"
      size="xs"
      loading={show.isPending}
      onClick={() => {
        show.mutate(
          { params: { account, id } },
          {
            onSuccess: onSecret,
            onError: (error) => {
              onSecret({ id, url, error });
            },
          },
        );
      }}
    >
      {text.webhooks.showSecret}
    </Button>
  );
}

function Ping({ id }: { readonly id: string }) {
  const account = useAccount();
  const ping = useChange(webhookTest);
  return (
    <Button
      variant="default"
      size="xs"
      loading={ping.isPending}
      onClick={() => {
        ping.mutate({ params: { account, id } });
      }}
    >
      {ping.isError ? text.webhooks.pingFailed : ping.isSuccess ? text.webhooks.pinged : text.webhooks.ping}
    </Button>
  );
}

const NEW: { readonly url: string; readonly events: readonly EventType[] } = { url: '', events: [] };

interface WebhookFormProps {
  readonly webhook?: Webhook;
  readonly onSecret: (told: Shown) => void;
}

function WebhookForm({ webhook, onSecret }: WebhookFormProps) {
  const account = useAccount();
  const create = useChange(webhookCreate);
  const update = useChange(webhookUpdate);
  const { data } = useSuspenseQuery(reading(webhookEvents, {}));
  const known = webhook === undefined ? NEW : { url: webhook.url, events: webhook.events };
  const { value, changes, set, forget } = useDraft(known);
  const { url, events } = value;
  const { url: urlSchema, events: eventsSchema } = webhookCreateSchemas.body.properties;
  const submit = async (): Promise<void> => {
    if (webhook !== undefined) {
      await update.mutateAsync({ params: { account, id: webhook.id }, body: changes });
    } else {
      onSecret(await create.mutateAsync({ body: { url, events, account } }));
    }
    forget();
  };
  return (
    <FormModal
      {...(webhook === undefined ? { label: text.webhooks.make } : editing(webhook.url))}
      place={webhook === undefined ? 'new-webhook' : `webhook:${webhook.id}`}
      button={webhook === undefined ? { size: 'sm' } : { variant: 'default' }}
      onSubmit={submit}
    >
      <TextInput
        label={text.webhooks.url}
        description={prose(urlSchema.description)}
        placeholder={urlSchema.examples[0]}
        maxLength={urlSchema.maxLength}
        required
        data-autofocus
        value={url}
        onChange={(event) => {
          set({ url: event.currentTarget.value });
        }}
      />
      <Checkbox.Group
        label={text.webhooks.events}
        description={prose(eventsSchema.description)}
        value={[...events]}
        onChange={(chosen) => {
          set({ events: chosen });
        }}
      >
        <Stack gap={6} mt={4} mah={280} style={{ overflowY: 'auto' }} tabIndex={0}>
          {data.events
            .filter(({ fires }) => fires)
            .map(({ type, description }) => (
              <Checkbox key={type} value={type} label={type} description={prose(description)} size="xs" />
            ))}
        </Stack>
      </Checkbox.Group>
    </FormModal>
  );
}
