import { Button, Group, NativeSelect, Stack, Table, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import { client, listCheck, listClone, listDelete, listReindex, listSource, listUpdate } from '../../service/client.js';
import { readAgain, useChange } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { useDraft } from '../../ui/draft.js';
import { count } from '../../ui/format.js';
import { FormModal } from '../../ui/form-modal.js';
import { languageChoices } from '../../ui/languages.js';
import { Section } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { When } from '../../ui/when.js';
import { LinkedFiles } from './linked-files.js';
import { useList, useListParams } from './list-frame.js';
import { Meaning } from './meaning.js';
import { PictureModel } from './picture-model.js';
import { Source } from './source.js';
import { TranscriptionModel } from './transcription-model.js';

export function ListSettings() {
  const may = useMay();
  return (
    <Stack gap="xl">
      {may(listUpdate) ? <Settings /> : null}
      {may(listSource) ? <Source /> : null}
      <Meaning />
      <PictureModel />
      <TranscriptionModel />
      <LinkedFiles />
      <Versions />
      <Care />
      <Group>
        {may(listClone) ? <CloneList /> : null}
        {may(listDelete) ? <DeleteList /> : null}
      </Group>
    </Stack>
  );
}

function Settings() {
  const list = useList();
  const params = useListParams();
  const update = useChange(listUpdate);
  const { value, changes, set, forget } = useDraft({ language: list.language });
  const { language } = value;
  const save = async (): Promise<void> => {
    await update.mutateAsync({ params, body: changes });
    forget();
  };
  return (
    <Section title={text.list.settings}>
      <form
        aria-label={text.list.settings}
        onSubmit={(event) => {
          event.preventDefault();
          save().catch(() => undefined);
        }}
      >
        <Stack maw={480}>
          <NativeSelect
            label={text.lists.language}
            description={text.lists.languageHint}
            data={languageChoices(list.language)}
            value={language}
            onChange={(event) => {
              set({ language: event.currentTarget.value });
            }}
          />
          <Problem error={update.error} />
          <Group>
            <Button type="submit" loading={update.isPending}>
              {text.common.save}
            </Button>
            {update.isSuccess ? <Text role="status">{text.common.saved}</Text> : null}
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function Versions() {
  const { versions, current_version } = useList();
  return (
    <Section title={text.settings.versions} lead={text.settings.versionsLead}>
      <Columns
        heads={[text.lists.version, text.settings.state, text.lists.recordCount, text.settings.made]}
        label={text.settings.versions}
      >
        {versions.map(({ version, state, record_count, created_utc }) => (
          <Table.Tr key={version}>
            <Table.Th scope="row">{version}</Table.Th>
            <Table.Td>{version === current_version ? text.settings.current : text.settings.states[state]}</Table.Td>
            <Table.Td>{count(record_count)}</Table.Td>
            <Table.Td>
              <When iso={created_utc} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Columns>
      {versions.flatMap(({ version, unfit = {} }) =>
        Object.entries(unfit).map(([field, values]) => (
          <Text key={`${version} ${field}`}>{text.settings.unfit(version, field, values)}</Text>
        )),
      )}
    </Section>
  );
}

/** Checks and repairs of the files on disk. */
function Care() {
  const params = useListParams();
  const may = useMay();
  const check = useMutation({ mutationFn: () => listCheck(client, { params }) });
  const reindex = useChange(listReindex);
  return (
    <Section title={text.settings.care} lead={text.settings.careLead}>
      <Group>
        <Button
          variant="default"
          loading={check.isPending}
          onClick={() => {
            check.mutate();
          }}
        >
          {text.settings.check}
        </Button>
        {may(listReindex) ? (
          <ConfirmButton
            label={text.settings.reindex}
            question={text.settings.reindexQuestion}
            onConfirm={() => reindex.mutateAsync({ params })}
            button={{ size: 'sm' }}
          />
        ) : null}
      </Group>
      <Problem error={check.error} />
      {check.data === undefined ? null : (
        <Text role="status">
          {check.data.ok ? text.settings.checkFine : text.settings.checkFound(check.data.problems.join(' '))}
        </Text>
      )}
    </Section>
  );
}

function CloneList() {
  const params = useListParams();
  const navigate = useNavigate();
  const clone = useChange(listClone);
  const [name, setName] = useState('');
  const submit = async (): Promise<void> => {
    await clone.mutateAsync({ params, body: { name } });
    await navigate({ to: '/$account/list/$list/search', params: { ...params, list: name } });
  };
  return (
    <FormModal label={text.settings.clone} place="copy" button={{ variant: 'default', size: 'sm' }} onSubmit={submit}>
      <TextInput
        label={text.settings.cloneName}
        description={text.lists.nameHint}
        required
        data-autofocus
        value={name}
        onChange={(event) => {
          setName(event.currentTarget.value);
        }}
      />
    </FormModal>
  );
}

function DeleteList() {
  const params = useListParams();
  const navigate = useNavigate();
  const cache = useQueryClient();
  const { record_count } = useList();
  const remove = async (): Promise<void> => {
    await listDelete(client, { params });
    await navigate({ to: '/$account/lists', params: { account: params.account } });
    // Only now: the page of the list would be read again as well.
    await readAgain(cache);
  };
  return (
    <ConfirmButton
      label={text.settings.delete}
      question={text.settings.deleteQuestion(params.list, count(record_count))}
      typed={params.list}
      onConfirm={remove}
      button={{ color: 'red', variant: 'filled', size: 'sm' }}
    />
  );
}
