import { Code, MultiSelect, NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { text } from '../../messages/index.js';
import type { SearchState } from '../../page-state.js';
import { searchListSchemas } from '../../service/client.js';
import { useIsNarrow } from '../../ui/narrow.js';
import { prose } from '../../ui/prose.js';
import type { FieldSchema } from '../../ui/schema-fields.js';
import type { List } from './list-frame.js';
import { PICTURE_OPTIONS, type Picture } from '../search/picture.js';
import { SIZE_MAX, type SearchBody } from './search-body.js';

/** Most used options, in this order. */
const SHOWN_FIRST: readonly string[] = [
  'filter',
  'order_by',
  'facets',
  'facet_query',
  'search_fields',
  'distinct',
  'match',
  'typo_tolerance',
  'explain',
];

/** Number of choices shown; others are found by typing. */
const CHOICES_MAX = 100;

/** Options as described by the service, without the text, which has a box of its own. */
const OPTIONS = Object.entries(searchListSchemas.body.properties as Readonly<Record<string, FieldSchema>>).filter(
  ([name]) => name !== 'query' && name !== 'skip',
);

/** Labels of the options. */
const LABELS: Readonly<Record<Exclude<keyof SearchBody, 'query' | 'skip'>, string>> = text.search.labels;

/** The fields of what is searched. */
export interface SearchedFields {
  readonly facets: readonly Pick<List['facets'][number], 'name' | 'cardinality'>[];
  readonly searchable_fields: readonly Pick<List['searchable_fields'][number], 'name'>[];
}

interface SearchOptionsProps {
  readonly label?: string;
  /** Options of this kind of search, and those shown first. Undefined for all options. */
  readonly taken?: { readonly names: ReadonlySet<string>; readonly first: readonly string[] };
  readonly list: SearchedFields;
  readonly options: SearchState;
  readonly onChange: (change: SearchState) => void;
}

/** The options beside what they find, folded on narrow windows. With a picture, those of searches by one. */
export function FoldedOptions({
  picture,
  ...props
}: Omit<SearchOptionsProps, 'label' | 'taken'> & { readonly picture: Picture | undefined }) {
  const isNarrow = useIsNarrow();
  return (
    <details className="folded" open={!isNarrow}>
      <summary>{text.search.options}</summary>
      <SearchOptions {...props} {...(picture === undefined ? {} : { taken: PICTURE_OPTIONS })} />
    </details>
  );
}

export function SearchOptions({ label = text.search.options, taken, list, options, onChange }: SearchOptionsProps) {
  const offered = OPTIONS.filter(([name]) => taken?.names.has(name) ?? true);
  const names = taken?.first ?? SHOWN_FIRST;
  const first = names.flatMap((name) => offered.filter(([each]) => each === name));
  const others = offered.filter((option) => !first.includes(option));
  const isUsed = others.some(([name]) => options[name] !== undefined);
  const controls = (shown: typeof OPTIONS) =>
    shown.map(([name, schema]) => (
      <Option
        key={name}
        name={name}
        schema={schema}
        list={list}
        value={options[name]}
        onChange={(value) => {
          onChange({ [name]: value });
        }}
      />
    ));
  return (
    <Stack gap="sm" component="section" aria-label={label}>
      {controls(first)}
      <details open={isUsed}>
        <summary>{text.search.moreOptions}</summary>
        <Stack gap="sm" mt="sm">
          {controls(others)}
        </Stack>
      </details>
    </Stack>
  );
}

interface OptionProps {
  readonly name: string;
  readonly schema: FieldSchema;
  readonly list: SearchedFields;
  readonly value: string | number | boolean | undefined;
  readonly onChange: (value: string | number | boolean | undefined) => void;
}

/** Control for an option, by its type. Each can be left at its default. */
function Option({ name, schema, list, value, onChange }: OptionProps) {
  const common = { label: labelOf(name), description: prose(schema.description), size: 'xs' } as const;
  const names = fieldsFor(name, list);
  if (names !== undefined) {
    return (
      <MultiSelect
        {...common}
        data={names}
        value={value === undefined ? [] : String(value).split(',')}
        searchable
        limit={CHOICES_MAX}
        clearable
        clearButtonProps={{ 'aria-label': text.common.clear }}
        onChange={(chosen) => {
          onChange(chosen.length === 0 ? undefined : chosen.join(','));
        }}
      />
    );
  }
  const choices =
    name === 'distinct'
      ? singleFacets(list, value)
      : (schema.enum ?? (schema.type === 'boolean' ? YES_OR_NO : undefined));
  if (choices !== undefined) {
    return (
      <NativeSelect
        {...common}
        data={[{ value: '', label: text.search.byDefault }, ...choices]}
        value={value === undefined ? '' : String(value)}
        onChange={({ currentTarget: { value: chosen } }) => {
          onChange(schema.type === 'boolean' && chosen !== '' ? chosen === 'true' : chosen === '' ? undefined : chosen);
        }}
      />
    );
  }
  if (schema.type === 'number' || schema.type === 'integer')
    return <NumberOption {...{ name, schema, list, value, onChange }} />;
  return (
    <TextInput
      {...common}
      value={value === undefined ? '' : String(value)}
      maxLength={schema.maxLength}
      placeholder={typeof schema.examples?.[0] === 'string' ? schema.examples[0] : undefined}
      onChange={(event) => {
        onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value);
      }}
    />
  );
}

/** Returns the fields that an option chooses from. Undefined for other options. */
function fieldsFor(name: string, { facets, searchable_fields }: SearchedFields): string[] | undefined {
  if (name === 'facets') return facets.map((facet) => facet.name);
  if (name === 'search_fields') return searchable_fields.map((field) => field.name);
  return undefined;
}

/** Returns the facets with one value per record, and the current value of the option, which may be typed by hand. */
function singleFacets({ facets }: SearchedFields, value: OptionProps['value']): string[] {
  const names = facets.flatMap(({ name, cardinality }) => (cardinality === 'Single' ? [name] : []));
  return value === undefined || names.includes(String(value)) ? names : [...names, String(value)];
}

const YES_OR_NO = [
  { value: 'true', label: text.common.yes },
  { value: 'false', label: text.common.no },
];

/** Label of an option with its name in the API. */
function labelOf(name: string): ReactNode {
  return (
    <>
      {LABELS[name as keyof typeof LABELS]} <Code>{name}</Code>
    </>
  );
}

function NumberOption({ name, schema, value, onChange }: OptionProps) {
  const { minimum, maximum, description, type } = schema;
  return (
    <NumberInput
      label={labelOf(name)}
      description={prose(description)}
      size="xs"
      {...(minimum === undefined ? {} : { min: minimum })}
      {...(name === 'size' ? { max: SIZE_MAX } : maximum === undefined ? {} : { max: maximum })}
      step={type === 'integer' ? 1 : 0.05}
      allowDecimal={type !== 'integer'}
      value={typeof value === 'number' ? value : ''}
      onChange={(entry) => {
        onChange(typeof entry === 'number' ? entry : undefined);
      }}
    />
  );
}
