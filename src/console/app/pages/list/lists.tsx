import { Anchor, Badge, Button, Group, Modal, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import { listCreate, listCreateSchemas, listList, type ListListOutput } from '../../service/client.js';
import { readingAll, useChange } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { count, time } from '../../ui/format.js';
import { Page } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { prose } from '../../ui/prose.js';

/** Shown at first, and with each step. */
const ROWS = 100;
/** Of so many one is found by looking. */
const FEW = 10;
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'sv', 'da', 'no', 'fi', 'ru', 'none'];

export function Lists() {
  const account = useAccount();
  const may = useMay();
  const { data } = useSuspenseQuery(readingAll(listList, { params: { account } }));
  const { lists, unavailable = [] } = data;
  const [wanted, setWanted] = useState('');
  const [rows, setRows] = useState(ROWS);
  const found = lists.filter(({ name }) => name.includes(wanted.trim().toLowerCase()));
  return (
    <Page title={text.lists.title} actions={may(listCreate) ? <NewList /> : undefined}>
      {lists.length === 0 ? <Text c="dimmed">{text.lists.none}</Text> : null}
      {unavailable.map(({ name, code, detail }) => (
        <Problem key={name} error={new Error(`${name}: ${detail} (${code})`)} />
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
      {lists.length === 0 ? null : <ListTable lists={found.slice(0, rows)} />}
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

function ListTable({ lists }: Pick<ListListOutput, 'lists'>) {
  const account = useAccount();
  return (
    <Columns
      heads={[text.lists.name, text.lists.recordCount, text.lists.version, text.lists.modified]}
      label={text.lists.title}
    >
      {lists.map(({ name, record_count, current_version, versions, modified_utc }) => (
        <Table.Tr key={name}>
          <Table.Th scope="row">
            <Anchor component={Link} to="/$account/list/$list/search" params={{ account, list: name } as never}>
              {name}
            </Anchor>
          </Table.Th>
          <Table.Td>{count(record_count)}</Table.Td>
          <Table.Td>
            {current_version}{' '}
            {versions.some(({ state }) => state === 'building') ? (
              <Badge variant="light">{text.lists.building}</Badge>
            ) : null}
          </Table.Td>
          <Table.Td>{time(modified_utc)}</Table.Td>
        </Table.Tr>
      ))}
    </Columns>
  );
}

function NewList() {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button onClick={open}>{text.lists.make}</Button>
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
  const { name: schema, language: languageSchema } = listCreateSchemas.body.properties;
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
          description={prose(languageSchema.description)}
          data={LANGUAGES}
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
