import { Anchor, Badge, Button, Group, Modal, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import { listCreate, listCreateSchemas, listList } from '../../service/client.js';
import { reading, useChange } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { count, time } from '../../ui/format.js';
import { Page } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';

const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'sv', 'da', 'no', 'fi', 'ru', 'none'];

export function Lists() {
  const account = useAccount();
  const may = useMay();
  const { data } = useSuspenseQuery(reading(listList, { params: { account } }));
  const { lists, unavailable = [] } = data;
  return (
    <Page title={text.lists.title} actions={may(listCreate) ? <NewList /> : undefined}>
      {lists.length === 0 ? <Text c="dimmed">{text.lists.none}</Text> : null}
      {unavailable.map(({ name, code, detail }) => (
        <Problem key={name} error={new Error(`${name}: ${detail} (${code})`)} />
      ))}
      {lists.length === 0 ? null : (
        <Table.ScrollContainer minWidth={480} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
          <Table highlightOnHover>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{text.lists.name}</Table.Th>
                <Table.Th>{text.lists.recordCount}</Table.Th>
                <Table.Th>{text.lists.version}</Table.Th>
                <Table.Th>{text.lists.modified}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {lists.map((list) => (
                <Table.Tr key={list.name}>
                  <Table.Td>
                    <Anchor
                      component={Link}
                      to="/$account/list/$list/search"
                      params={{ account, list: list.name } as never}
                    >
                      {list.name}
                    </Anchor>
                  </Table.Td>
                  <Table.Td>{count(list.record_count)}</Table.Td>
                  <Table.Td>
                    {list.current_version}{' '}
                    {list.versions.some(({ state }) => state === 'building') ? (
                      <Badge variant="light">{text.lists.building}</Badge>
                    ) : null}
                  </Table.Td>
                  <Table.Td>{time(list.modified_utc)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Page>
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
          description={languageSchema.description}
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
