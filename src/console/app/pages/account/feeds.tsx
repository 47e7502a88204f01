import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { text } from '../../messages/index.js';
import {
  feedConnect,
  feedDelete,
  feedInterval,
  feedIntervalSchemas,
  feedList,
  feedMove,
  feedMoveSchemas,
  feedSecret,
  feedSecretSchemas,
  feedSync,
  feedWebScope,
  feedWebScopeSchemas,
  type FeedListOutput,
  type FeedWebScopeInput,
} from '../../service/client.js';
import { readingAll, useChange } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { Empty } from '../../ui/empty.js';
import { count, duration } from '../../ui/format.js';
import { useDraft } from '../../ui/draft.js';
import { FormModal } from '../../ui/form-modal.js';
import { useFoundRows } from '../../ui/found-rows.js';
import { Page } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { SchemaFields, withoutBlankLines, type Draft } from '../../ui/schema-fields.js';
import { When } from '../../ui/when.js';
import { ConnectFeed, SCOPE_MEMBERS } from './connect-feed.js';
import { FeedLists } from './feed-lists.js';
import { withLastRun, type Run } from './feed-runs.js';

type Feed = FeedListOutput['feeds'][number];

const READ_MS = 2_000;
/**
 * Additional interval per feed: each answer contains all feeds with their runs, so that thousands are read less often.
 */
const READ_MS_EACH = 20;
const COLOURS = { 'Waiting for first sync': 'gray', Syncing: 'blue', Synced: 'green', Failed: 'red' } as const;

/** Sources that are read repeatedly, with their current state. */
export function Feeds() {
  const account = useAccount();
  const may = useMay();
  const { feeds } = useSuspenseQuery({
    ...readingAll(feedList, { params: { account } }),
    refetchInterval: ({ state }) => Math.max(READ_MS, READ_MS_EACH * (state.data?.feeds.length ?? 0)),
  }).data;
  const { shown, find, more } = useFoundRows(feeds, { label: text.feeds.find, textOf });
  return (
    <Page title={text.feeds.title} lead={text.feeds.lead} actions={may(feedConnect) ? <ConnectFeed /> : undefined}>
      {feeds.length === 0 ? <Empty step={feedConnect}>{text.feeds.none}</Empty> : null}
      {find}
      {shown.length === 0 ? null : (
        <Columns
          heads={[
            text.feeds.name,
            text.feeds.status,
            text.feeds.synced,
            text.feeds.next,
            text.feeds.records,
            text.feeds.searchable,
            '',
          ]}
          label={text.feeds.title}
          minWidth={960}
        >
          {shown.map((feed) => (
            <FeedRow key={feed.name} feed={feed} />
          ))}
        </Columns>
      )}
      {more}
    </Page>
  );
}

/** Includes the status, so that failed feeds can be found. */
const textOf = ({ name, provider, status, searchable_in }: Feed): string =>
  [name, provider, status, ...searchable_in].join(' ');

function FeedRow({ feed }: { readonly feed: Feed }) {
  const { name, provider, status, error, last_synced, next_sync, record_count } = feed;
  return (
    <Table.Tr>
      <Table.Th scope="row">
        {name}
        <Text size="xs" c="dimmed">
          {text.choices[provider]}
        </Text>
      </Table.Th>
      <Table.Td>
        <Badge variant="light" color={COLOURS[status]} miw="max-content">
          {status}
        </Badge>
        {error === null ? null : <Text size="sm">{error.message}</Text>}
      </Table.Td>
      <Table.Td>
        <When iso={last_synced} />
        <LastRun feed={feed} />
        <EarlierRuns feed={feed} />
      </Table.Td>
      <Table.Td>{next_sync === null ? whenSoon(status) : <When iso={next_sync} />}</Table.Td>
      <Table.Td>{count(record_count)}</Table.Td>
      <Table.Td>
        <FeedLists feed={feed} />
      </Table.Td>
      <Table.Td>
        <FeedActions feed={feed} />
      </Table.Td>
    </Table.Tr>
  );
}

/** Returns when the feed is read next, if no time is set, as during a run. */
function whenSoon(status: Feed['status']): string {
  return status === 'Syncing' ? text.feeds.now : text.feeds.asSoonAsPossible;
}

function LastRun({ feed: { last_run } }: { readonly feed: Feed }) {
  if (last_run === null) return null;
  const { skipped } = last_run;
  return (
    <details>
      <summary>{text.feeds.lastRun}</summary>
      <Text size="sm">{ranOf(last_run)}</Text>
      {skipped.length === 0 ? null : <Text size="sm">{text.feeds.skipped(skipped.length)}</Text>}
      {skipped.map(({ what, why }) => (
        <Text key={`${what} ${why}`} size="xs" style={{ overflowWrap: 'anywhere' }}>
          {what}: {why}
        </Text>
      ))}
    </details>
  );
}

function EarlierRuns({ feed }: { readonly feed: Feed }) {
  const [runs, setRuns] = useState<readonly Run[]>([]);
  useEffect(() => {
    setRuns((before) => withLastRun(before, feed));
  }, [feed]);
  const earlier = runs.slice(1);
  if (earlier.length === 0) return null;
  return (
    <details>
      <summary>{text.feeds.earlierRuns(earlier.length)}</summary>
      {earlier.map(({ at, failure, counts }) => (
        <Text key={at} size="sm">
          <When iso={at} />: {failure ?? (counts === null ? '' : ranOf(counts))}
        </Text>
      ))}
    </details>
  );
}

function ranOf({ added, changed, removed, took_ms }: NonNullable<Feed['last_run']>): string {
  return text.feeds.ran(count(added), count(changed), count(removed), duration(took_ms));
}

function FeedActions({ feed }: { readonly feed: Feed }) {
  const account = useAccount();
  const may = useMay();
  const sync = useChange(feedSync);
  const remove = useChange(feedDelete);
  const { name, provider, status, has_secret } = feed;
  const params = { account, feed: name };
  return (
    <Stack gap="xs">
      <Group gap="xs" justify="flex-end">
        {may(feedSync) ? (
          <Button
            size="xs"
            variant="default"
            aria-label={text.feeds.syncOf(name)}
            disabled={status === 'Syncing'}
            loading={sync.isPending}
            onClick={() => {
              sync.mutate({ params });
            }}
          >
            {text.feeds.sync}
          </Button>
        ) : null}
        {may(feedInterval) ? <ChangeInterval feed={feed} /> : null}
        {may(feedWebScope) && provider === 'website' ? <ChangeScope feed={feed} /> : null}
        {may(feedSecret) && has_secret ? <ReplaceSecret feed={feed} /> : null}
        {may(feedMove) ? <MoveFeed feed={feed} /> : null}
        {may(feedDelete) ? (
          <ConfirmButton
            label={text.feeds.delete}
            short={text.common.delete}
            question={text.feeds.deleteQuestion(name)}
            onConfirm={() => remove.mutateAsync({ params })}
            button={{ 'aria-label': text.common.deleteOf(name) }}
          />
        ) : null}
      </Group>
      <Problem error={sync.error} />
    </Stack>
  );
}

interface FeedProps {
  readonly feed: Feed;
}

const QUIET = { variant: 'default' } as const;

function ChangeInterval({ feed: { name, interval_minutes } }: FeedProps) {
  const account = useAccount();
  const change = useChange(feedInterval);
  const { value: draft, replace: setDraft, forget } = useDraft<Draft>({ interval_minutes });
  const submit = async (): Promise<void> => {
    const body = { interval_minutes: Number(draft['interval_minutes']) };
    await change.mutateAsync({ params: { account, feed: name }, body });
    forget();
  };
  return (
    <FormModal
      label={text.feeds.intervalOf(name)}
      short={text.feeds.interval}
      submit={text.common.save}
      place={`interval:${name}`}
      button={QUIET}
      onSubmit={submit}
    >
      <SchemaFields
        isFirst
        properties={feedIntervalSchemas.body.properties}
        names={['interval_minutes']}
        required={['interval_minutes']}
        draft={draft}
        onChange={setDraft}
      />
    </FormModal>
  );
}

function ChangeScope({ feed: { name, settings } }: FeedProps) {
  const account = useAccount();
  const change = useChange(feedWebScope);
  const { value: draft, replace: setDraft, forget } = useDraft<Draft>(settings);
  const submit = async (): Promise<void> => {
    const body = { settings: withoutBlankLines(draft) } as FeedWebScopeInput['body'];
    await change.mutateAsync({ params: { account, feed: name }, body });
    forget();
  };
  return (
    <FormModal
      label={text.feeds.scopeOf(name)}
      short={text.feeds.scope}
      submit={text.common.save}
      place={`scope:${name}`}
      button={QUIET}
      onSubmit={submit}
    >
      <SchemaFields
        isFirst
        properties={feedWebScopeSchemas.body.anyOf[0].properties.settings.properties}
        names={SCOPE_MEMBERS}
        required={['start_urls']}
        draft={draft}
        onChange={setDraft}
      />
    </FormModal>
  );
}

function ReplaceSecret({ feed: { name } }: FeedProps) {
  const account = useAccount();
  const replace = useChange(feedSecret);
  const [draft, setDraft] = useState<Draft>({});
  const submit = async (): Promise<void> => {
    await replace.mutateAsync({ params: { account, feed: name }, body: { secret: String(draft['secret']) } });
    setDraft({});
  };
  return (
    <FormModal
      label={text.feeds.secretOf(name)}
      short={text.feeds.secret}
      submit={text.common.save}
      place={`secret:${name}`}
      button={QUIET}
      onSubmit={submit}
    >
      <SchemaFields
        isFirst
        properties={feedSecretSchemas.body.properties}
        names={['secret']}
        required={['secret']}
        draft={draft}
        onChange={setDraft}
      />
    </FormModal>
  );
}

function MoveFeed({ feed: { name, media_store } }: FeedProps) {
  const account = useAccount();
  const move = useChange(feedMove);
  const { value: draft, replace: setDraft, forget } = useDraft<Draft>({ media_store });
  const submit = async (): Promise<void> => {
    await move.mutateAsync({ params: { account, feed: name }, body: { media_store: String(draft['media_store']) } });
    forget();
  };
  return (
    <FormModal
      label={text.feeds.moveOf(name)}
      short={text.feeds.move}
      submit={text.feeds.move}
      place={`move:${name}`}
      button={QUIET}
      onSubmit={submit}
    >
      <SchemaFields
        isFirst
        properties={feedMoveSchemas.body.properties}
        names={['media_store']}
        required={['media_store']}
        draft={draft}
        onChange={setDraft}
      />
    </FormModal>
  );
}
