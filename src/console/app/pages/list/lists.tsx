import { Anchor, Badge, Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { text } from '../../messages/index.js';
import { listCreate, listCreateSchemas, type ListListOutput } from '../../service/client.js';
import { readingLists } from '../../service/lists.js';
import { useChange } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { columnHelper, DataTable } from '../../ui/data-table.js';
import { Empty } from '../../ui/empty.js';
import { count } from '../../ui/format.js';
import { useFormPlace } from '../../ui/form-modal.js';
import { Page } from '../../ui/page.js';
import { languageChoices } from '../../ui/languages.js';
import { Problem } from '../../ui/problem.js';
import { useTextInAddress } from '../../ui/text-in-address.js';
import { WhenCell } from '../../ui/when.js';
import { UnavailableList } from './unavailable-list.js';

/** Rows shown at first, and added with each step. */
const ROWS = 100;
/** Up to this many lists, no search box is needed. */
const FEW = 10;

export function Lists() {
  const account = useAccount();
  const may = useMay();
  const { data } = useSuspenseQuery(readingLists(account));
  const { lists, unavailable = [] } = data;
  const [wanted, setWanted] = useTextInAddress('find');
  const [rows, setRows] = useState(ROWS);
  const found = useMemo(() => lists.filter(({ name }) => name.includes(wanted.trim().toLowerCase())), [lists, wanted]);
  return (
    <Page title={text.lists.title} actions={may(listCreate) ? <NewList /> : undefined}>
      {lists.length + unavailable.length === 0 ? <Empty step={listCreate}>{text.lists.none}</Empty> : null}
      {unavailable.map((each) => (
        <UnavailableList key={each.name} {...each} />
      ))}
      {lists.length <= FEW ? null : (
        <TextInput
          label={text.lists.find}
          maw={320}
          value={wanted}
          onChange={(event) => {
            setWanted(event.currentTarget.value);
          }}
        />
      )}
      {lists.length > 0 && found.length === 0 ? <Text role="status">{text.lists.noneFound}</Text> : null}
      {found.length === 0 ? null : (
        <DataTable
          label={text.lists.title}
          items={found}
          columns={COLUMNS}
          keyOf={({ name }) => name}
          named="name"
          rowsMax={rows}
          isSortable
        />
      )}
      {found.length <= rows ? null : (
        <Group>
          <Button
            variant="default"
            onClick={() => {
              setRows(rows + ROWS);
            }}
          >
            {text.common.more}
          </Button>
        </Group>
      )}
    </Page>
  );
}

type Listed = ListListOutput['lists'][number];

const list = columnHelper<Listed>();
const COLUMNS = list.columns([
  list.accessor('name', { header: text.lists.name, cell: ({ getValue }) => <ListLink name={getValue()} /> }),
  list.accessor('record_count', { header: text.lists.recordCount, cell: ({ getValue }) => count(getValue()) }),
  list.accessor('current_version', {
    header: text.lists.version,
    cell: ({ row }) => (
      <>
        {row.original.current_version}{' '}
        {row.original.versions.some(({ state }) => state === 'building') ? (
          <Badge variant="light">{text.lists.building}</Badge>
        ) : null}
      </>
    ),
  }),
  list.accessor('modified_utc', { header: text.lists.modified, cell: WhenCell }),
]);

function ListLink({ name }: { readonly name: string }) {
  const account = useAccount();
  return (
    <Anchor
      component={Link}
      inherit
      to="/$account/list/$list/search"
      params={{ account, list: name } as never}
      style={{ overflowWrap: 'anywhere' }}
    >
      {name}
    </Anchor>
  );
}

function NewList() {
  const [opened, setOpened] = useFormPlace('new-list');
  const close = (): void => {
    setOpened(false);
  };
  return (
    <>
      <Button
        onClick={() => {
          setOpened(true);
        }}
      >
        {text.lists.make}
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        title={text.lists.make}
        closeButtonProps={{ 'aria-label': text.common.close }}
      >
        <NewListForm onCancel={close} />
      </Modal>
    </>
  );
}

function NewListForm({ onCancel }: { readonly onCancel: () => void }) {
  const account = useAccount();
  const navigate = useNavigate();
  const create = useChange(listCreate);
  const [name, setName] = useState('');
  const [language, setLanguage] = useState('en');
  const { name: schema } = listCreateSchemas.body.properties;
  const submit = async (): Promise<void> => {
    await create.mutateAsync({ params: { account }, body: { name, language } });
    await navigate({ to: '/$account/list/$list/fields', params: { account, list: name } });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit().catch(() => undefined);
      }}
    >
      <Stack>
        <Text size="sm" c="dimmed">
          {text.lists.makeLead}
        </Text>
        <TextInput
          label={text.lists.name}
          description={text.lists.nameHint}
          pattern={schema.pattern}
          required
          data-autofocus
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
          }}
        />
        <Select
          label={text.lists.language}
          description={text.lists.languageHint}
          data={languageChoices(language)}
          value={language}
          allowDeselect={false}
          onChange={(value) => {
            setLanguage(value ?? 'en');
          }}
        />
        <Problem error={create.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {text.common.cancel}
          </Button>
          <Button type="submit" loading={create.isPending}>
            {text.lists.make}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
