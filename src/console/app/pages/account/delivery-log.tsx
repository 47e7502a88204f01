import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { text } from '../../messages/index.js';
import {
  client,
  webhookDeliveries,
  webhookReplay,
  webhookSetAside,
  type WebhookDeliveriesOutput,
} from '../../service/client.js';
import { reading, useChange } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { count, time } from '../../ui/format.js';
import { Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';

const SIZE = 100;
/** What is sent while somebody looks is shown. */
const READ_MS = 3_000;

type Attempt = WebhookDeliveriesOutput['attempts'][number];

const COLOURS = { delivered: 'green', retried: 'orange', 'set-aside': 'red' } as const;

interface DeliveryLogProps {
  readonly webhook: { readonly id: string; readonly url: string };
}

/** What became of each message, with every attempt. */
export function DeliveryLog({ webhook: { id, url } }: DeliveryLogProps) {
  const account = useAccount();
  const params = { account, id };
  const log = useInfiniteQuery({
    queryKey: [webhookDeliveries.route.name, id],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => {
      const query = pageParam === 0 ? { size: SIZE } : { size: SIZE, before: pageParam };
      return webhookDeliveries(client, { params, query }, { signal });
    },
    getNextPageParam: ({ next }) => next,
    // Who looks back is not disturbed, and hundreds of entries are not read again and again.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : READ_MS),
  });
  const attempts = log.data?.pages.flatMap((page) => page.attempts) ?? [];
  return (
    <Section title={text.webhooks.log} lead={url}>
      <SetAside id={id} />
      <Problem error={log.error} />
      {log.isSuccess && attempts.length === 0 ? <Text>{text.webhooks.noDeliveries}</Text> : null}
      {attempts.length === 0 ? null : (
        <Columns
          heads={[
            text.webhooks.when,
            text.webhooks.event,
            text.webhooks.attempt,
            text.webhooks.outcome,
            text.webhooks.answer,
          ]}
          label={text.webhooks.log}
          minWidth={720}
        >
          {attempts.map((attempt) => (
            <AttemptRow key={`${attempt.delivery} ${attempt.attempt} ${attempt.at_utc}`} attempt={attempt} />
          ))}
        </Columns>
      )}
      {log.hasNextPage ? (
        <Button variant="default" loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
          {text.common.more}
        </Button>
      ) : null}
    </Section>
  );
}

function AttemptRow({ attempt }: { readonly attempt: Attempt }) {
  const { event, at_utc, duration_ms, status, error, answer, outcome } = attempt;
  return (
    <Table.Tr>
      <Table.Td>{time(at_utc)}</Table.Td>
      <Table.Td>{event}</Table.Td>
      <Table.Td>{attempt.attempt}</Table.Td>
      <Table.Td>
        <Badge variant="light" color={COLOURS[outcome]}>
          {text.webhooks.outcomes[outcome]}
        </Badge>
      </Table.Td>
      <Table.Td>
        <Text size="sm" lineClamp={2}>
          {error ?? text.webhooks.answered(String(status ?? ''), Math.round(duration_ms), answer)}
        </Text>
      </Table.Td>
    </Table.Tr>
  );
}

/** What could not be delivered in all its attempts. */
function SetAside({ id }: { readonly id: string }) {
  const account = useAccount();
  const may = useMay();
  const params = { account, id };
  const aside = useQuery({ ...reading(webhookSetAside, { params }), refetchInterval: READ_MS });
  const replay = useChange(webhookReplay);
  if (aside.data === undefined || aside.data.total_count === 0) return null;
  return (
    <Stack gap="xs">
      <Group>
        <Text>{text.webhooks.setAside(count(aside.data.total_count))}</Text>
        {may(webhookReplay) ? (
          <Button
            size="xs"
            loading={replay.isPending}
            onClick={() => {
              replay.mutate({ params, body: {} });
            }}
          >
            {text.webhooks.replay}
          </Button>
        ) : null}
      </Group>
      <Problem error={replay.error} />
    </Stack>
  );
}
