import { Anchor, Button, Group, Table, Text } from '@mantine/core';
import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import {
  client,
  mediaStoreCheck,
  mediaStoreCreate,
  mediaStoreCreateSchemas,
  mediaStoreDelete,
  mediaStoreList,
  mediaStoreUpdate,
  mediaStoreUpdateSchemas,
  type MediaStoreCreateInput,
  type MediaStoreListOutput,
} from '../../service/client.js';
import { readingAll, useChange } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { bytes, count } from '../../ui/format.js';
import { useDraft } from '../../ui/draft.js';
import { editing, FormModal } from '../../ui/form-modal.js';
import { useFoundRows } from '../../ui/found-rows.js';
import { Page } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { SchemaFields, type Draft } from '../../ui/schema-fields.js';

type Store = MediaStoreListOutput['media_stores'][number];

/** Settings of each kind of store. */
const MEMBERS = mediaStoreCreateSchemas.body.properties.kind['x-members'];

function membersOf(kind: Store['kind']): readonly string[] {
  return kind === 'built-in' ? [] : [...MEMBERS[kind].needed, ...MEMBERS[kind].others];
}

/** Media stores of the account. */
export function MediaStores() {
  const account = useAccount();
  const may = useMay();
  const { media_stores: stores } = useSuspenseQuery(readingAll(mediaStoreList, { params: { account } })).data;
  const { shown, find, more } = useFoundRows(stores, { label: text.media.find, textOf: ({ name }) => name });
  return (
    <Page title={text.media.title} lead={text.media.lead} actions={may(mediaStoreCreate) ? <NewStore /> : undefined}>
      {find}
      <Columns
        heads={[text.media.name, text.media.kind, text.media.used, text.media.files, '']}
        label={text.media.title}
        minWidth={640}
      >
        {shown.map((store) => (
          <StoreRow key={store.name} store={store} />
        ))}
      </Columns>
      {more}
    </Page>
  );
}

function StoreRow({ store }: { readonly store: Store }) {
  const account = useAccount();
  const may = useMay();
  const remove = useChange(mediaStoreDelete);
  const { name, kind, bytes_used, bytes_max, file_count } = store;
  const used = [bytes_used, bytes_max].filter((each) => each !== null).map(bytes);
  return (
    <Table.Tr>
      <Table.Th scope="row">
        <Anchor component={Link} to="/$account/files/$store" params={{ account, store: name } as never}>
          {name}
        </Anchor>
      </Table.Th>
      <Table.Td>{kind}</Table.Td>
      <Table.Td>{used.length === 0 ? '—' : used.join(' / ')}</Table.Td>
      <Table.Td>{file_count === null ? '—' : count(file_count)}</Table.Td>
      <Table.Td>
        <Group gap="xs" justify="flex-end">
          {may(mediaStoreCheck) && kind === 'built-in' ? <CheckStore name={name} /> : null}
          {may(mediaStoreUpdate) && kind !== 'built-in' ? <EditStore store={store} /> : null}
          {may(mediaStoreDelete) && kind !== 'built-in' ? (
            <ConfirmButton
              label={text.media.remove}
              short={text.common.remove}
              question={text.media.removeQuestion(name)}
              onConfirm={() => remove.mutateAsync({ params: { account, store: name } })}
              button={{ 'aria-label': text.fields.removeOf(name) }}
            />
          ) : null}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function CheckStore({ name }: { readonly name: string }) {
  const account = useAccount();
  const check = useMutation({ mutationFn: () => mediaStoreCheck(client, { params: { account, store: name } }) });
  const { problems } = check.data ?? {};
  return (
    <>
      {problems === undefined ? null : (
        <Text role="status" size="sm">
          {problems.length === 0 ? text.media.fine : text.media.problems(problems.join(' '))}
        </Text>
      )}
      <Problem error={check.error} />
      <Button
        variant="default"
        size="xs"
        aria-label={text.media.checkOf(name)}
        loading={check.isPending}
        onClick={() => {
          check.mutate();
        }}
      >
        {text.media.check}
      </Button>
    </>
  );
}

const NEW: Draft = { kind: 's3' };

function NewStore() {
  const account = useAccount();
  const create = useChange(mediaStoreCreate);
  const [draft, setDraft] = useState(NEW);
  const kind = draft['kind'] as MediaStoreCreateInput['body']['kind'];
  const names = ['name', 'kind', ...membersOf(kind)];
  const submit = async (): Promise<void> => {
    const body = Object.fromEntries(Object.entries(draft).filter(([name]) => names.includes(name)));
    await create.mutateAsync({ params: { account }, body: body as MediaStoreCreateInput['body'] });
    setDraft(NEW);
  };
  return (
    <FormModal label={text.media.make} place="new-store" button={{ size: 'sm' }} onSubmit={submit}>
      <SchemaFields
        isFirst
        properties={mediaStoreCreateSchemas.body.properties}
        names={names}
        required={['name', 'kind', ...MEMBERS[kind].needed]}
        draft={draft}
        onChange={setDraft}
      />
    </FormModal>
  );
}

function EditStore({ store }: { readonly store: Store }) {
  const account = useAccount();
  const update = useChange(mediaStoreUpdate);
  const { name, kind } = store;
  const known = Object.entries(store).filter(([member, value]) => membersOf(kind).includes(member) && value !== '');
  const { value: draft, replace: setDraft, forget } = useDraft<Draft>(Object.fromEntries(known));
  return (
    <FormModal
      {...editing(name)}
      place={`store:${name}`}
      button={{ variant: 'default' }}
      onSubmit={() => update.mutateAsync({ params: { account, store: name }, body: draft }).then(forget)}
    >
      <SchemaFields
        isFirst
        properties={mediaStoreUpdateSchemas.body.properties}
        names={membersOf(kind)}
        draft={draft}
        onChange={setDraft}
      />
    </FormModal>
  );
}
