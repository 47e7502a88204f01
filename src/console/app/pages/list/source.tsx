import { Button, Checkbox, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import {
  feedList,
  listFeed,
  listSource,
  listSourceCreate,
  listSourceCreateSchemas,
  listSourceDelete,
  listSourceRun,
  listSourceUpdate,
  type ListSourceCreateInput,
  type ListSourceOutput,
} from '../../service/client.js';
import { readingAll, readingOrNone, useChange } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { count } from '../../ui/format.js';
import { FormModal } from '../../ui/form-modal.js';
import { Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { SchemaFields, type Draft } from '../../ui/schema-fields.js';
import { useListParams } from './list-frame.js';

const READ_MS = 2_000;

/** Source that the list follows: a feed, or a file of a media store. */
export function Source() {
  const params = useListParams();
  const found = useQuery({ ...readingOrNone(listSource, { params }), refetchInterval: READ_MS });
  const source = found.data;
  return (
    <Section title={text.source.title} lead={text.source.lead}>
      <Problem error={found.error} />
      {source === null ? <NoSource /> : null}
      {source === null || source === undefined ? null : <Followed source={source} />}
    </Section>
  );
}

function Followed({ source }: { readonly source: ListSourceOutput }) {
  const params = useListParams();
  const may = useMay();
  const run = useChange(listSourceRun);
  const update = useChange(listSourceUpdate);
  const end = useChange(listSourceDelete);
  const { media_store, path, status, error, last_run, keep_in_sync } = source;
  return (
    <Stack gap="sm">
      <Text>{text.source.imports(media_store, path)}</Text>
      <Text role="status">
        {text.source.status(status)}{' '}
        {last_run === null
          ? null
          : text.source.ran(
              count(last_run.added),
              count(last_run.changed),
              count(last_run.removed),
              count(last_run.failed),
            )}
      </Text>
      {error === null ? null : <Problem error={new Error(error.message)} />}
      <Checkbox
        label={text.source.keep}
        checked={keep_in_sync}
        disabled={!may(listSourceUpdate)}
        onChange={({ currentTarget: { checked } }) => {
          update.mutate({ params, body: { keep_in_sync: checked } });
        }}
      />
      <Problem error={run.error ?? update.error} />
      <Group>
        {may(listSourceRun) ? (
          <Button
            variant="default"
            size="xs"
            loading={run.isPending}
            onClick={() => {
              run.mutate({ params });
            }}
          >
            {text.source.run}
          </Button>
        ) : null}
        {may(listSourceDelete) ? (
          <ConfirmButton
            label={text.source.end}
            question={text.source.endQuestion}
            onConfirm={() => end.mutateAsync({ params })}
          />
        ) : null}
      </Group>
    </Stack>
  );
}

function NoSource() {
  const may = useMay();
  return (
    <>
      <Text c="dimmed">{text.source.none}</Text>
      <Group>
        {may(listFeed) && may(feedList) ? <FollowFeed /> : null}
        {may(listSourceCreate) ? <ImportFile /> : null}
      </Group>
    </>
  );
}

function FollowFeed() {
  const params = useListParams();
  const { data } = useQuery(readingAll(feedList, { params: { account: params.account } }));
  const follow = useChange(listFeed);
  const [chosen, setChosen] = useState<string>();
  // A feed can be followed by one list only.
  const names = data?.feeds.flatMap(({ name, searchable_in }) => (searchable_in.length === 0 ? [name] : [])) ?? [];
  const feed = chosen ?? names[0] ?? '';
  return (
    <FormModal
      label={text.source.follow}
      place="follow"
      button={{ variant: 'default' }}
      onSubmit={() => follow.mutateAsync({ params, body: { feed } })}
    >
      <NativeSelect
        label={text.source.feed}
        description={names.length > 0 ? undefined : data?.feeds.length === 0 ? text.source.noFeeds : text.source.noFeed}
        data={names}
        value={feed}
        required
        onChange={({ currentTarget: { value } }) => {
          setChosen(value);
        }}
      />
    </FormModal>
  );
}

function ImportFile() {
  const params = useListParams();
  const create = useChange(listSourceCreate);
  const [draft, setDraft] = useState<Draft>({ media_store: 'default' });
  return (
    <FormModal
      label={text.source.importFile}
      place="import-file"
      button={{ variant: 'default' }}
      onSubmit={() => create.mutateAsync({ params, body: draft as ListSourceCreateInput['body'] })}
    >
      <SchemaFields
        isFirst
        properties={listSourceCreateSchemas.body.properties}
        names={['media_store', 'path', 'keep_in_sync']}
        required={['path']}
        draft={draft}
        onChange={setDraft}
      />
    </FormModal>
  );
}
