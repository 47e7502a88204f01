import { Badge, Button, Group, Table, Text } from '@mantine/core';
import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { text } from '../../messages/index.js';
import {
  client,
  modelCreate,
  modelCreateSchemas,
  modelDelete,
  modelList,
  modelTest,
  modelUpdate,
  modelUpdateSchemas,
  type ModelCreateInput,
  type ModelListOutput,
} from '../../service/client.js';
import { reading, useChange } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { Empty } from '../../ui/empty.js';
import { useDraft } from '../../ui/draft.js';
import { editing, FormModal } from '../../ui/form-modal.js';
import { useFoundRows } from '../../ui/found-rows.js';
import { Page } from '../../ui/page.js';
import { Problem } from '../../ui/problem.js';
import { SchemaFields, type Draft, type FieldSchema } from '../../ui/schema-fields.js';

type Model = ModelListOutput['models'][number];
type Provider = ModelCreateInput['body']['provider'];
/** A model of the account, as opposed to the built-in one. */
type AddedModel = Model & { readonly provider: Provider };

function isAdded(model: Model): model is AddedModel {
  return model.provider !== 'built-in';
}

/** Required and optional settings of each provider. */
const MEMBERS = modelCreateSchemas.body.properties.provider['x-members'];

/** Settings besides name and provider. The kind comes first, if there is a choice. */
function membersOf(provider: Provider): readonly string[] {
  const { needed, others } = MEMBERS[provider];
  const all: readonly string[] = [...needed, ...others];
  return all.toSorted((one, other) => Number(other === 'kind') - Number(one === 'kind'));
}

/** Models of the account. */
export function Models() {
  const account = useAccount();
  const may = useMay();
  const { models } = useSuspenseQuery(reading(modelList, { params: { account } })).data;
  const { shown, find, more } = useFoundRows(models, { label: text.models.find, textOf: ({ name }) => name });
  return (
    <Page title={text.models.title} lead={text.models.lead} actions={may(modelCreate) ? <NewModel /> : undefined}>
      {models.some(isAdded) ? null : <Empty step={modelCreate}>{text.models.none}</Empty>}
      {find}
      <Columns
        heads={[
          text.models.name,
          text.models.kind,
          text.models.provider,
          text.models.dimensions,
          text.models.state,
          text.models.usedBy,
          '',
        ]}
        label={text.models.title}
        minWidth={760}
      >
        {shown.map((model) => (
          <ModelRow key={model.name} model={model} />
        ))}
      </Columns>
      {more}
    </Page>
  );
}

function ModelRow({ model }: { readonly model: Model }) {
  const { name, kind, provider, dimensions, state, detail, used_by } = model;
  return (
    <Table.Tr>
      <Table.Th scope="row">{name}</Table.Th>
      <Table.Td>{kind}</Table.Td>
      <Table.Td>{provider}</Table.Td>
      <Table.Td>{dimensions ?? '—'}</Table.Td>
      <Table.Td>
        <Badge variant="light" color={state === 'ready' ? 'green' : 'red'} title={detail}>
          {text.models.states[state]}
        </Badge>
      </Table.Td>
      <Table.Td>{used_by.join(', ')}</Table.Td>
      <Table.Td>{isAdded(model) ? <ModelActions model={model} /> : null}</Table.Td>
    </Table.Tr>
  );
}

function ModelActions({ model }: { readonly model: AddedModel }) {
  const account = useAccount();
  const may = useMay();
  const remove = useChange(modelDelete);
  const { name, provider } = model;
  return (
    <Group gap="xs" justify="flex-end">
      {may(modelTest) && provider !== 'own' ? <TestModel name={name} /> : null}
      {may(modelUpdate) ? <EditModel model={model} /> : null}
      {may(modelDelete) ? (
        <ConfirmButton
          label={text.models.delete}
          short={text.common.delete}
          question={text.models.deleteQuestion(name)}
          onConfirm={() => remove.mutateAsync({ params: { account, model: name } })}
          button={{ 'aria-label': text.common.deleteOf(name) }}
        />
      ) : null}
    </Group>
  );
}

function TestModel({ name }: { readonly name: string }) {
  const account = useAccount();
  const test = useMutation({ mutationFn: () => modelTest(client, { params: { account, model: name } }) });
  return (
    <>
      <Button
        variant="default"
        size="xs"
        aria-label={text.models.testOf(name)}
        loading={test.isPending}
        onClick={() => {
          test.mutate();
        }}
      >
        {text.models.test}
      </Button>
      {test.data === undefined ? null : <Text role="status">{text.models.answered(test.data.took_ms.toFixed(0))}</Text>}
      <Problem error={test.error} />
    </>
  );
}

const NEW: Draft = { provider: 'openai' };

function NewModel() {
  const account = useAccount();
  const create = useChange(modelCreate);
  const [draft, setDraft] = useState(NEW);
  const provider = draft['provider'] as Provider;
  const properties: Readonly<Record<string, FieldSchema>> = modelCreateSchemas.body.properties;
  const submit = async (): Promise<void> => {
    // Settings of another provider are not sent.
    const wanted = ['name', 'provider', ...membersOf(provider)];
    const body = Object.fromEntries(Object.entries(draft).filter(([name]) => wanted.includes(name)));
    await create.mutateAsync({ params: { account }, body: body as ModelCreateInput['body'] });
    setDraft(NEW);
  };
  return (
    <FormModal label={text.models.make} place="new-model" button={{ size: 'sm' }} onSubmit={submit}>
      <SchemaFields
        isFirst
        properties={properties}
        names={['name', 'provider', ...membersOf(provider)]}
        required={['name', 'provider', ...MEMBERS[provider].needed]}
        draft={draft}
        onChange={setDraft}
      />
    </FormModal>
  );
}

function EditModel({ model }: { readonly model: AddedModel }) {
  const account = useAccount();
  const update = useChange(modelUpdate);
  const { name, provider, dimensions, tokens_max, query_prefix, document_prefix } = model;
  const known = provider === 'own' ? { dimensions } : { tokens_max, query_prefix, document_prefix };
  const { value: draft, replace: setDraft, forget } = useDraft<Draft>(known);
  return (
    <FormModal
      {...editing(name)}
      place={`model:${name}`}
      button={{ variant: 'default' }}
      onSubmit={() => update.mutateAsync({ params: { account, model: name }, body: draft }).then(forget)}
    >
      <SchemaFields
        isFirst
        properties={modelUpdateSchemas.body.properties}
        names={membersOf(provider).filter((member) => member !== 'kind')}
        draft={draft}
        onChange={setDraft}
      />
    </FormModal>
  );
}
