import { Group, NumberInput, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { text } from '../../messages/index.js';
import {
  facetCreate,
  facetCreateSchemas,
  facetDelete,
  facetUpdate,
  resourceCreate,
  resourceCreateSchemas,
  resourceDelete,
  resourceUpdate,
  searchableFieldCreate,
  searchableFieldCreateSchemas,
  searchableFieldDelete,
  searchableFieldUpdate,
} from '../../service/client.js';
import { useChange } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { Columns } from '../../ui/columns.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { useDraft } from '../../ui/draft.js';
import { editing, FormModal } from '../../ui/form-modal.js';
import { facetType } from '../../ui/labels.js';
import { useFoundRows } from '../../ui/found-rows.js';
import { Section } from '../../ui/page.js';
import { prose } from '../../ui/prose.js';
import { useList, useListParams, type List } from './list-frame.js';

/** Searchable fields, facets and links. A change builds the list's next version. */
export function Fields() {
  return (
    <Stack gap="xl">
      <Text c="dimmed">{text.fields.lead}</Text>
      <SearchableFields />
      <Facets />
      <Resources />
    </Stack>
  );
}

type SearchableField = List['searchable_fields'][number];
type Facet = List['facets'][number];
type Resource = List['resources'][number];

const NEW_SEARCHABLE: SearchableField = { name: '', weight: 1 };
const NEW_FACET: Facet = { name: '', type: 'string', cardinality: 'Single' };
const NEW_RESOURCE: Resource = { name: '', kind: 'document' };

function SearchableFields() {
  const { searchable_fields } = useList();
  return (
    <FieldSection
      title={text.fields.searchable}
      lead={text.fields.searchableLead}
      removeLabel={text.fields.removeSearchable}
      heads={[text.fields.weight]}
      fields={searchable_fields}
      cellsOf={({ weight }) => [weight]}
      form={(field) => <SearchableFieldForm {...(field === undefined ? {} : { field })} />}
      calls={{ create: searchableFieldCreate, update: searchableFieldUpdate, remove: searchableFieldDelete }}
    />
  );
}

function SearchableFieldForm({ field }: { readonly field?: SearchableField }) {
  const params = useListParams();
  const create = useChange(searchableFieldCreate);
  const update = useChange(searchableFieldUpdate);
  const { value: body, changes, set, forget } = useDraft(field ?? NEW_SEARCHABLE);
  const { properties } = searchableFieldCreateSchemas.body;
  const submit = async (): Promise<void> => {
    if (field === undefined) await create.mutateAsync({ params, body });
    else await update.mutateAsync({ params: { ...params, name: field.name }, body: changes });
    forget();
  };
  return (
    <FieldFormModal kind="searchable" name={field?.name} add={text.fields.addSearchable} onSubmit={submit}>
      <NameInput
        value={body.name}
        onChange={(name) => {
          set({ name });
        }}
      />
      <NumberInput
        label={text.fields.weight}
        description={prose(properties.weight.description)}
        min={properties.weight.minimum}
        max={properties.weight.maximum}
        step={0.5}
        value={body.weight}
        onChange={(value) => {
          set({ weight: Number(value) });
        }}
      />
    </FieldFormModal>
  );
}

function Facets() {
  const { facets } = useList();
  return (
    <FieldSection
      title={text.fields.facets}
      lead={text.fields.facetsLead}
      removeLabel={text.fields.removeFacet}
      heads={[text.fields.type, text.fields.values]}
      fields={facets}
      cellsOf={({ type, cardinality }) => [facetType(type), text.fields.cardinality[cardinality]]}
      form={(facet) => <FacetForm {...(facet === undefined ? {} : { facet })} />}
      calls={{ create: facetCreate, update: facetUpdate, remove: facetDelete }}
    />
  );
}

function FacetForm({ facet }: { readonly facet?: Facet }) {
  const params = useListParams();
  const create = useChange(facetCreate);
  const update = useChange(facetUpdate);
  const { value: body, changes, set, forget } = useDraft(facet ?? NEW_FACET);
  const { properties } = facetCreateSchemas.body;
  const submit = async (): Promise<void> => {
    if (facet === undefined) await create.mutateAsync({ params, body });
    else await update.mutateAsync({ params: { ...params, name: facet.name }, body: changes });
    forget();
  };
  return (
    <FieldFormModal kind="facet" name={facet?.name} add={text.fields.addFacet} onSubmit={submit}>
      <NameInput
        value={body.name}
        onChange={(name) => {
          set({ name });
        }}
      />
      <Select
        label={text.fields.type}
        description={prose(properties.type.description)}
        data={properties.type.enum.map((value) => ({ value, label: facetType(value) }))}
        value={body.type}
        allowDeselect={false}
        onChange={(type) => {
          set({ type: type as Facet['type'] });
        }}
      />
      <Select
        label={text.fields.values}
        description={prose(properties.cardinality.description)}
        data={properties.cardinality.enum.map((value) => ({ value, label: text.fields.cardinality[value] }))}
        value={body.cardinality}
        allowDeselect={false}
        onChange={(cardinality) => {
          set({ cardinality: cardinality as Facet['cardinality'] });
        }}
      />
    </FieldFormModal>
  );
}

function Resources() {
  const { resources } = useList();
  return (
    <FieldSection
      title={text.fields.resources}
      lead={text.fields.resourcesLead}
      removeLabel={text.fields.removeResource}
      heads={[text.fields.kind]}
      fields={resources}
      cellsOf={({ kind }) => [kind]}
      form={(resource) => <ResourceForm {...(resource === undefined ? {} : { resource })} />}
      calls={{ create: resourceCreate, update: resourceUpdate, remove: resourceDelete }}
    />
  );
}

function ResourceForm({ resource }: { readonly resource?: Resource }) {
  const params = useListParams();
  const create = useChange(resourceCreate);
  const update = useChange(resourceUpdate);
  const { value: body, changes, set, forget } = useDraft(resource ?? NEW_RESOURCE);
  const { kind } = resourceCreateSchemas.body.properties;
  const submit = async (): Promise<void> => {
    if (resource === undefined) await create.mutateAsync({ params, body });
    else await update.mutateAsync({ params: { ...params, name: resource.name }, body: changes });
    forget();
  };
  return (
    <FieldFormModal kind="resource" name={resource?.name} add={text.fields.addResource} onSubmit={submit}>
      <NameInput
        value={body.name}
        onChange={(name) => {
          set({ name });
        }}
      />
      <Select
        label={text.fields.kind}
        description={prose(kind.description)}
        data={[...kind.enum]}
        value={body.kind}
        allowDeselect={false}
        onChange={(value) => {
          set({ kind: value as Resource['kind'] });
        }}
      />
    </FieldFormModal>
  );
}

interface FieldFormModalProps {
  readonly kind: 'searchable' | 'facet' | 'resource';
  /** Undefined for a new field. */
  readonly name: string | undefined;
  readonly add: string;
  readonly onSubmit: () => Promise<unknown>;
  readonly children: React.ReactNode;
}

function FieldFormModal({ kind, name, add, onSubmit, children }: FieldFormModalProps) {
  return (
    <FormModal
      {...(name === undefined ? { label: add } : editing(name))}
      place={name === undefined ? `new-${kind}` : `${kind}:${name}`}
      button={name === undefined ? {} : { variant: 'default' }}
      onSubmit={onSubmit}
    >
      {children}
    </FormModal>
  );
}

interface NameInputProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function NameInput({ value, onChange }: NameInputProps) {
  const { description, maxLength } = searchableFieldCreateSchemas.body.properties.name;
  return (
    <TextInput
      label={text.fields.field}
      description={prose(description)}
      maxLength={maxLength}
      required
      data-autofocus
      value={value}
      onChange={(event) => {
        onChange(event.currentTarget.value);
      }}
    />
  );
}

interface FieldSectionProps<Field> {
  readonly title: string;
  readonly lead: string;
  /** Title of the dialog that removes a field. */
  readonly removeLabel: string;
  /** Column heads between the name and the buttons. */
  readonly heads: readonly string[];
  readonly fields: readonly Field[];
  readonly cellsOf: (field: Field) => readonly (string | number)[];
  /** Form of a field; without an argument, of a new one. */
  readonly form: (field?: Field) => ReactNode;
  readonly calls: {
    readonly create: Parameters<ReturnType<typeof useMay>>[0];
    readonly update: Parameters<ReturnType<typeof useMay>>[0];
    readonly remove: typeof facetDelete | typeof resourceDelete | typeof searchableFieldDelete;
  };
}

/** A kind of fields, one per row, with the actions allowed to the person. */
function FieldSection<Field extends { readonly name: string }>(props: FieldSectionProps<Field>) {
  const { title, lead, removeLabel, heads, fields, cellsOf, form, calls } = props;
  const params = useListParams();
  const may = useMay();
  const remove = useChange(calls.remove);
  const { shown, find, more } = useFoundRows(fields, {
    label: text.fields.find(title),
    textOf: ({ name }) => name,
    // Distinguishes the several tables of the page.
    place: `find-${calls.remove.route.name}`,
  });
  return (
    <Section title={title} lead={lead} actions={may(calls.create) ? form() : undefined}>
      {find}
      {fields.length === 0 ? <Text c="dimmed">{text.fields.none}</Text> : null}
      {fields.length === 0 ? null : (
        <Columns heads={[text.fields.field, ...heads, '']} label={title}>
          {shown.map((field) => (
            <Table.Tr key={field.name}>
              <Table.Th scope="row" style={{ overflowWrap: 'anywhere' }}>
                {field.name}
              </Table.Th>
              {cellsOf(field).map((cell, column) => (
                <Table.Td key={heads[column]}>{cell}</Table.Td>
              ))}
              <Table.Td>
                <Group gap="xs" justify="flex-end">
                  {may(calls.update) ? form(field) : null}
                  {may(calls.remove) ? (
                    <RemoveField
                      label={removeLabel}
                      name={field.name}
                      remove={() => remove.mutateAsync({ params: { ...params, name: field.name } })}
                    />
                  ) : null}
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </Columns>
      )}
      {more}
    </Section>
  );
}

interface RemoveFieldProps {
  readonly label: string;
  readonly name: string;
  readonly remove: () => Promise<unknown>;
}

function RemoveField({ label, name, remove }: RemoveFieldProps) {
  return (
    <ConfirmButton
      label={label}
      short={text.common.remove}
      question={text.fields.removeQuestion(name)}
      onConfirm={remove}
      button={{ 'aria-label': text.fields.removeOf(name) }}
    />
  );
}
