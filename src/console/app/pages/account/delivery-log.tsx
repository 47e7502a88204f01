import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
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
import { columnHelper } from '../../ui/data-table.js';
import { count } from '../../ui/format.js';
import { LongTable } from '../../ui/long-table.js';
import { Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { WhenCell } from '../../ui/when.js';

const SIZE = 100;
/** Interval at which new deliveries appear. */
const READ_MS = 3_000;

type Attempt = WebhookDeliveriesOutput['attempts'][number];

const COLOURS = { delivered: 'green', retried: 'orange', 'set-aside': 'red' } as const;

interface DeliveryLogProps {
  readonly webhook: { readonly id: string; readonly url: string };
}

/** Result of each delivery, with every attempt. */
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
    // Not while somebody looks back, whom it would disturb; also avoids reading hundreds of entries repeatedly.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : READ_MS),
  });
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = log;
  const readOn = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isError, fetchNextPage]);
  const pages = log.data?.pages;
  const attempts = useMemo(() => pages?.flatMap((page) => page.attempts) ?? [], [pages]);
  return (
    <Section title={text.webhooks.log} lead={url}>
      <SetAside id={id} />
      <Problem error={log.error} onRetry={() => void (attempts.length === 0 ? log.refetch() : fetchNextPage())} />
      {log.isSuccess && attempts.length === 0 ? <Text>{text.webhooks.noDeliveries}</Text> : null}
      {attempts.length === 0 ? null : (
        <LongTable
          label={text.webhooks.log}
          minWidth={720}
          items={attempts}
          columns={COLUMNS}
          keyOf={({ delivery, attempt: number, at_utc }) => `${delivery} ${number} ${at_utc}`}
          onEnd={readOn}
        />
      )}
    </Section>
  );
}

const attempt = columnHelper<Attempt>();
const COLUMNS = attempt.columns([
  attempt.accessor('at_utc', { header: text.webhooks.when, cell: WhenCell }),
  attempt.accessor('event', { header: text.webhooks.event }),
  attempt.accessor('attempt', { header: text.webhooks.attempt }),
  attempt.accessor('outcome', {
    header: text.webhooks.outcome,
    cell: ({ getValue }) => {
      const outcome = getValue();
      return (
        <Badge variant="light" color={COLOURS[outcome]}>
          {text.webhooks.outcomes[outcome]}
        </Badge>
      );
    },
  }),
  attempt.accessor(answerOf, {
    id: 'answer',
    header: text.webhooks.answer,
    cell: ({ getValue }) => (
      <Text size="sm" truncate maw={420} title={getValue()}>
        {getValue()}
      </Text>
    ),
  }),
]);

function answerOf({ error, status, duration_ms, answer }: Attempt): string {
  return error ?? text.webhooks.answered(String(status ?? ''), Math.round(duration_ms), answer);
}

/** Deliveries that failed in all their attempts. */
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
